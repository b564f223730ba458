# Bash's completion for stint: its commands, and their options as `stint COMMAND --help` lists them.
# shellcheck shell=bash

_stint() {
    local word=${COMP_WORDS[COMP_CWORD]} before='' command='' options i
    if ((COMP_CWORD > 0)); then before=${COMP_WORDS[COMP_CWORD - 1]}; fi
    COMPREPLY=()

    # --format=nginx is three words.
    if [[ $word == = ]]; then
        word=''
    elif [[ $before == = ]] && ((COMP_CWORD > 1)); then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            run | check | simulate | import-nginx | fields | schema | version)
                command=${COMP_WORDS[i]}
                break
                ;;
        esac
    done

    case $command:$before in
        simulate:--format)
            mapfile -t COMPREPLY < <(compgen -W 'stint nginx haproxy' -- "$word")
            return
            ;;
        # A name that only its writer knows.
        run:--upgrade-timeout | simulate:--logged | simulate:--captured | simulate:--host | check:--store) [[ $word == -* ]] || return 0 ;;
        # A file: bash completes it.
        *:-c | *:--config | simulate:--against | check:--diff) return ;;
    esac
    case $command in
        '') options='run check simulate import-nginx fields schema version -h --help --version' ;;
        run) options='-h --help -c --config --upgrade-timeout --cold' ;;
        check) options='-h --help -c --config --strict --print --store --diff' ;;
        simulate) options='-h --help -c --config --against --json --logged --format --captured --host' ;;
        import-nginx | fields | schema | version) options='-h --help' ;;
    esac
    # Files are an argument of these.
    if [[ $word != -* && ($command == check || $command == simulate || $command == import-nginx) ]]; then return; fi
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    # Nothing else can follow.
    compopt +o bashdefault +o default 2>/dev/null || true
}

complete -o bashdefault -o default -F _stint stint
