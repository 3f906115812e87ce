# fish completion for docket: docket completion fish | source in ~/.config/fish/config.fish
function __docket_complete
	set -l tokens (commandline -opc) (commandline -ct)
	for line in (command docket complete fish -- $tokens[2..] 2>/dev/null)
		set -l part (string split -m 1 \t -- $line)
		if test "$part[1]" = ":"
			test "$part[2]" = dirs; and __fish_complete_directories (commandline -ct); or __fish_complete_path (commandline -ct)
		else
			echo $line
		end
	end
end
complete -c docket -f -a '(__docket_complete)'
