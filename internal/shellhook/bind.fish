# Recount: ctrl-R searches (recount hook fish --no-bind leaves the keys alone).
if status is-interactive
    function __recount_search
        set -l line (commandline -b | string collect)
        set -l answer (@FRONT@ search --binding --below -- "$line" | string collect)
        commandline -f repaint
        if string match -q 'run:*' -- "$answer"
            commandline -r -- (string sub -s 5 -- "$answer" | string collect)
            commandline -f execute
        else if string match -q 'edit:*' -- "$answer"
            commandline -r -- (string sub -s 6 -- "$answer" | string collect)
        end
    end

    for key in @KEYS@
        bind $key __recount_search
        bind -M insert $key __recount_search
    end
end
