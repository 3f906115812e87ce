# bash completion for docket: eval "$(docket completion bash)" in ~/.bashrc
_docket() {
	local value rest files=
	COMPREPLY=()
	while IFS=$'\t' read -r value rest; do
		if [[ $value == : ]]; then files=$rest; else COMPREPLY+=("$value"); fi
	done < <(command docket complete bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	case $files in
	files) compopt -o default ;;
	dirs) compopt -o dirnames ;;
	esac
	[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -F _docket docket
