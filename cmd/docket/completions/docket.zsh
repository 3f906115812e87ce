#compdef docket
# zsh completion for docket: source <(docket completion zsh) in ~/.zshrc, behind compinit
_docket() {
	local line value files= words_so_far
	local -a values shown
	words_so_far=("${(@)words[2,CURRENT]}")
	while IFS= read -r line; do
		value=${line%%$'\t'*}
		if [[ $value == : ]]; then files=${line#*$'\t'}; continue; fi
		values+=("$value")
		shown+=("${line/$'\t'/  -- }")
	done < <(command docket complete zsh -- "${words_so_far[@]}" 2>/dev/null)
	case $files in
	files) _files; return ;;
	dirs) _files -/; return ;;
	esac
	compadd -Q -l -d shown -a values
}
compdef _docket docket
