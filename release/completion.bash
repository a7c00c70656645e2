# Completion of `yarn hiatus …` in bash: source this file, or put it into /etc/bash_completion.d.
_yarn_hiatus() {
    local word=${COMP_WORDS[COMP_CWORD]} tables="status queues jobs nodes list"
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "hiatus" -- "$word")
    elif [ "${COMP_WORDS[1]}" != hiatus ]; then
        return
    elif [ "$COMP_CWORD" = 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$tables explain suspend resume check-config" -- "$word")
    elif [ "${COMP_WORDS[2]}" = check-config ]; then
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
    elif [[ " $tables " == *" ${COMP_WORDS[2]} "* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--json" -- "$word")
    fi
}
complete -o default -F _yarn_hiatus yarn
