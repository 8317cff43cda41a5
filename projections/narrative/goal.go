package narrative

import (
	"path"
	"strings"

	"github.com/zeebo/xxh3"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// A command line often does more than its main task: it changes directory first, sets a variable,
// or trims the output. Its goal is the first program of its last pipeline that is not such an
// aside. So the goal of `cd web && make 2>&1 | tail` is make, run in web.

// unknownDir is the directory of a goal if a line changed to one whose name is not known.
const unknownDir = "?"

// asides are programs that are the goal of a line only if the line has no other.
var asides = map[string]bool{
	"cd": true, "pushd": true, "popd": true, "echo": true, "printf": true, "export": true, "set": true, "unset": true,
	"source": true, ".": true, "true": true, "sleep": true, "clear": true, "date": true, "pwd": true, "wait": true, "exit": true,
}

// wrappers are programs that run the command that follows them.
var wrappers = map[string]bool{
	"sudo": true, "doas": true, "env": true, "time": true, "timeout": true, "nohup": true, "nice": true, "exec": true,
	"command": true, "stdbuf": true, "setsid": true,
}

// goal is the main task of a command line.
type goal struct {
	// kind is a hash of the program and its subcommands; act is a hash of the whole simple command
	// including flags and arguments.
	kind, act uint64
	// dir is the directory the goal runs in: the working directory, or the one the line changed to.
	dir string
}

// simple is one simple command of a line, as tokens.
type simple struct {
	tokens  []*recountv1.Token
	program string
	subs    []string
	piped   bool // it reads from a pipe
	dir     string
}

// simples returns the simple commands of a line, each with the directory it runs in.
func simples(in *recountv1.Intent) []simple {
	var all []simple
	dir := in.Cwd
	var s simple
	end := func(piped bool) {
		if s.program != "" {
			s.dir = dir
			all = append(all, s)
			if s.program == "cd" || s.program == "pushd" {
				dir = s.goes(dir)
			}
		}
		s = simple{piped: piped}
	}
	for _, t := range in.Tokens {
		switch t.Kind {
		case recountv1.TokenKind_TOKEN_KIND_PIPE:
			end(true)
			continue
		case recountv1.TokenKind_TOKEN_KIND_AND, recountv1.TokenKind_TOKEN_KIND_OR, recountv1.TokenKind_TOKEN_KIND_SEQUENCE,
			recountv1.TokenKind_TOKEN_KIND_BACKGROUND, recountv1.TokenKind_TOKEN_KIND_KEYWORD:
			end(false)
			continue
		case recountv1.TokenKind_TOKEN_KIND_BINARY:
			if s.program == "" || wrappers[s.program] {
				s.program, s.subs, s.tokens = t.Text[strings.LastIndexByte(t.Text, '/')+1:], nil, s.tokens[:0:0]
			}
		case recountv1.TokenKind_TOKEN_KIND_SUBCOMMAND:
			s.subs = append(s.subs, t.Text)
		case recountv1.TokenKind_TOKEN_KIND_REDIRECTION, recountv1.TokenKind_TOKEN_KIND_SUBSTITUTION:
			continue
		}
		s.tokens = append(s.tokens, t)
	}
	end(false)
	return all
}

// goes returns the directory that a cd changes to, judged by its text alone, or "" if that is
// unknown.
func (s simple) goes(from string) string {
	for _, t := range s.tokens {
		if t.Kind != recountv1.TokenKind_TOKEN_KIND_ARGUMENT {
			continue
		}
		to := strings.Trim(t.Text, `"'`)
		switch {
		case to == "" || strings.ContainsAny(to, "$`*?~") || to == "-":
			return ""
		case to[0] == '/':
			return path.Clean(to)
		case from == "":
			return ""
		}
		return path.Join(from, to)
	}
	return ""
}

func goalOf(in *recountv1.Intent, all []simple) goal {
	pick := -1
	for i, s := range all {
		if asides[s.program] || s.piped {
			continue
		}
		pick = i
	}
	if pick < 0 {
		pick = len(all) - 1
	}
	if pick < 0 {
		return goal{in.ContentHash, in.ContentHash, in.Cwd}
	}
	s := all[pick]
	var room [256]byte
	b := append(append(room[:0], s.program...), 0)
	for _, sub := range s.subs {
		b = append(append(b, sub...), 0)
	}
	g := goal{kind: xxh3.Hash(b), dir: s.dir}
	for _, t := range s.tokens {
		if t.Kind == recountv1.TokenKind_TOKEN_KIND_HEREDOC {
			g.act = in.ContentHash // the text of a here-document is not a token
			return g
		}
		b = append(append(b, t.Text...), 0)
	}
	g.act = xxh3.Hash(b)
	return g
}
