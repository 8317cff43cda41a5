package danger

import (
	"regexp"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// The table names programs, and there are always others. What follows holds for programs that it has no
// rule for: a word that is only given to a program to do what can't be taken back, as its name, one of its
// first three words, or a flag.

var (
	endingNames = regexp.MustCompile(`(^|[-_.])(uninstall|delete|destroy|remove|purge|wipe|nuke|eraser?)(\.sh|\.py)?$|^[a-z]{1,4}(purge|wipe)$|^(delete|destroy|wipe|nuke|undeploy)[-_]`)
	endingFlags = regexp.MustCompile(`^--(delete|destroy|drop|purge|wipe|erase|upload|factory-reset|delete-[a-z-]+|drop-[a-z-]+|upload-file|autonuke)(=|$)`)
	endingVerbs = regexp.MustCompile(`^([a-z]+[-_])?(delete|destroy|remove|drop|purge|wipe|erase|upload|publish)[-_][a-z_-]+$|^(user|group|node|host)(del|rm)$|^del(user|group|node|host)$`)
	bareWord    = regexp.MustCompile(`^[a-z][a-z0-9:_-]*$`)
)

// endingWords are the words, and what they do.
var endingWords = map[string]string{
	"delete": "remove", "destroy": "remove", "purge": "remove", "erase": "remove", "wipe": "remove", "nuke": "remove", "teardown": "remove", "tear-down": "remove",
	"undeploy": "infrastructure", "terminate": "infrastructure", "factory-reset": "remove", "revoke": "infrastructure", "decommission": "infrastructure", "autoremove": "system",
	"deploy": "infrastructure", "redeploy": "infrastructure", "publish": "publish", "unpublish": "publish", "upload": "send",
	"shutdown": "power", "poweroff": "power", "power-off": "power", "reboot": "power", "soft-reboot": "power", "halt": "power",
	"remove": "remove", "rm": "remove", "del": "remove", "uninstall": "system", "drop": "remove", "prune": "remove", "evict": "infrastructure",
	"drain": "infrastructure", "rollback": "infrastructure", "restore": "infrastructure", "reset": "infrastructure", "kill": "process", "send": "send", "share": "send", "delete-all": "remove", "destroy-all": "remove", "remove-all": "remove",
}

// plainPrograms take words that are text, names of files or tasks of a project, or have no such verbs that
// reach further than the tree.
var plainPrograms = words(`echo printf print grep egrep fgrep rg ag ack sed awk gawk cat head tail less more man info tldr help which type
	command whatis apropos test [ [[ expr true false export set declare local alias cd ls tree find fd locate sort uniq cut tr wc tee diff cmp
	jq yq xmllint curl wget git make gmake ninja just task go cargo rustup npm yarn pnpm bun npx node deno python python3 pip pip3 pipx uv poetry
	pdm conda ruby gem bundle rake perl php composer java javac mvn gradle sbt dotnet cmake ctest gcc clang tar zip unzip gzip cp mv mkdir touch
	ln chmod vim nvim vi nano emacs code psql mysql sqlite3 docker podman tmux screen direnv asdf mise nvm pyenv rbenv sdk flutter dart swift
	mix stack cabal ghc R Rscript julia cscope ctags exiftool gifsicle mkvpropedit calcurse todo.sh task-warrior hledger jj hg svn bzr fossil
	date basename dirname read trap return exit shift eval source xargs env time sleep wait jobs fg bg id whoami`)

// general are the rules for programs that the table does not know.
func general(c *call) []rule {
	if c.Name == "" || plainPrograms[c.Name] || strings.Contains(c.Head.Text, "=") {
		return nil
	}
	const why = "its words say that it does what can't be taken back"
	if endingNames.MatchString(c.Name) {
		return []rule{{kind: "remove", why: "its name says that it removes something"}}
	}
	n := 0
	for _, w := range c.Args {
		if endingFlags.MatchString(w.Value) && !harmless(c) {
			return []rule{{kind: "remove", why: why}}
		}
		if strings.HasPrefix(w.Value, "-") {
			continue
		}
		if n++; n > 3 {
			break
		}
		if w.Dynamic || w.Quoted || !bareWord.MatchString(w.Value) {
			continue
		}
		kind := endingWords[w.Value]
		if kind == "" && endingVerbs.MatchString(w.Value) {
			kind = "remove"
		}
		if kind != "" && !harmless(c) {
			return []rule{{kind: kind, why: why}}
		}
	}
	return nil
}

// harmless reports whether a call only says what it would do.
func harmless(c *call) bool {
	return flag("--dry-run --dryrun -n --help -h --plan --simulate --check --whatif")(c) || len(c.Args) > 0 && c.Args[0].Value == "help"
}

// abbreviated reports whether a program of iproute2 is told to change something: it takes any beginning
// of its verbs.
func abbreviated(c *call) bool {
	ws := shell.Operands(c.Args, "-f -family -n -netns -rc -l")
	if len(ws) < 2 {
		return false
	}
	verb := ws[1].Value
	for _, full := range []string{"flush", "delete", "add", "replace", "change", "append"} {
		if verb != "" && strings.HasPrefix(full, verb) {
			return true
		}
	}
	return strings.HasPrefix("set", verb) && len(verb) > 1
}
