package recall

import (
	"path"
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas/wordset"
)

// keysOf returns what a command line runs, a key for each of its commands: the program and its
// first word that is no flag, such as "go test". Changes of directory, variables and wrappers are
// left out, and so are filters behind a pipe.
func keysOf(command string) []string {
	var keys []string
	for _, line := range strings.FieldsFunc(unquoted(command), func(r rune) bool { return r == ';' || r == '&' || r == '\n' }) {
		first, _, _ := strings.Cut(line, "|")
		words := strings.Fields(first)
		for len(words) > 0 && (wrappers[words[0]] || strings.HasPrefix(words[0], "-") || isAssignment(words[0]) || isNumber(words[0])) {
			words = words[1:]
		}
		if len(words) == 0 || strings.HasPrefix(words[0], "#") || strings.ContainsAny(words[0], "<>0123456789(){}") && !strings.HasPrefix(words[0], "python") {
			continue
		}
		program := path.Base(words[0])
		if idle[program] {
			continue
		}
		key := program
		if !single[program] {
			for _, w := range words[1:] {
				if strings.HasPrefix(w, "-") {
					continue
				}
				if strings.ContainsAny(w, `"'`) {
					break
				}
				if isName(w) || strings.HasPrefix(program, "python") || program == "bash" || program == "sh" || program == "node" {
					key += " " + path.Base(w)
				}
				if (w == "run" || w == "exec") && slices.Contains(runners, program) {
					continue
				}
				break
			}
		}
		if key == program && (interpreters[program] || strings.HasPrefix(program, "python")) {
			continue // what it runs is in its input or an argument, and differs each time
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// runners are programs whose first argument says that the second is run.
var runners = []string{"npm", "pnpm", "yarn", "mise", "bun", "deno", "pdm", "uv", "poetry", "cargo", "bundle", "docker"}

// These are sets of programs: wrappers run the rest of the line, idle ones do not count as a
// command, and the arguments of single ones do not say what they do.
var (
	wrappers = wordset.Of("sudo time timeout env nohup command nice xargs then do else")
	idle     = wordset.Of("cd echo export set source . true false sleep printf pushd popd done fi if for while")
	single   = wordset.Of("cat ls grep rg find sed awk head tail wc mkdir cp mv rm touch diff sort jq which curl open edit create chmod ln tee")
	// interpreters run programs that are given to them.
	interpreters = wordset.Of("node ruby perl php bash sh zsh")
	// readers only look: they mend nothing.
	readers = wordset.Of("cat ls grep rg find head tail wc diff sort jq which pwd tree file stat less more du df ps env type view open")
)

// unquoted blanks out what stands in quotes and in here-documents, so that no separator is found in
// them.
func unquoted(command string) string {
	if i := strings.Index(command, "<<"); i >= 0 {
		command = command[:i]
	}
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
			b.WriteByte(c)
		case quote == 0:
			b.WriteByte(c)
		case c == '\\' && quote == '"':
			i++
		case c == quote:
			quote = 0
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/.-\"'")
}

func isNumber(w string) bool { return w != "" && strings.Trim(w, "0123456789smh.") == "" }

// isName reports whether a word is the name of a subcommand rather than of a file or a value.
func isName(w string) bool {
	for _, r := range w {
		if (r < 'a' || r > 'z') && r != '-' && r != ':' && r != '_' {
			return false
		}
	}
	return len(w) > 1 && len(w) < 24
}

// shares reports whether two commands run the same thing: the last key of one is among those of the
// other. That both call a program like ls or sed says nothing.
func shares(a, b []string) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	x, y := a[len(a)-1], b[len(b)-1]
	return !single[x] && slices.Contains(b, x) || !single[y] && slices.Contains(a, y)
}

// onlyReads reports whether a command only looks at things.
func onlyReads(command string) bool {
	keys := keysOf(command)
	for _, key := range keys {
		program, sub, _ := strings.Cut(key, " ")
		switch {
		case readers[program]:
		case program == "sed" && !strings.Contains(command, "-i"):
		case program == "git" && gitReads[sub]:
		case program == "gh" || program == "go" && goReads[sub]:
		default:
			return false
		}
	}
	return true
}

var (
	gitReads = wordset.Of("status diff log show branch blame grep rev-parse ls-files describe remote")
	goReads  = wordset.Of("doc list version env vet")
)
