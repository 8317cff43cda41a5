package command

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// categorise determines the purpose of the whole command from the categories of its programs. A
// program that changes something outweighs one that only reads, since `find … | xargs rm` is a
// removal. Substitutions count only if no program outside them has a category, since `cd $(dirname
// $(which go))` is a navigation. It returns the category and its confidence.
func (r *reader) categorise() (recountv1.Category, float32) {
	for _, inner := range [...]bool{false, true} {
		if best, sure := r.weigh(inner); best != 0 {
			return best, sure
		}
	}
	for _, v := range r.votes {
		if !v.known {
			return catOther, 0.3
		}
	}
	return catOther, 0.7
}

func (r *reader) weigh(inner bool) (recountv1.Category, float32) {
	var best recountv1.Category
	sure := float32(0)
	first := true
	copies := true // only cat, echo and the like
	reads := false // some program reads a file or queries the system
	for _, v := range r.votes {
		if v.inner != inner {
			continue
		}
		if _, filter := filters[v.program]; !filter {
			copies = copies && v.category == 0
		}
		c := v.category
		if _, filter := filters[v.program]; filter && !first && c == catQuery {
			c = 0 // a pager or a sort at the end of a pipe adds nothing
		}
		first = false
		reads = reads || c == catQuery && r.asks(v)
		if ranks[c] > ranks[best] {
			best = c
			if sure = 0.6; v.known {
				sure = 0.95
			}
		}
	}
	switch {
	case copies && r.writesFile() && (best == catQuery || best == 0):
		return catOther, 0.8 // cat a b > c
	case best == catQuery && !reads && r.generated(inner):
		return catOther, 0.7 // echo x | sed …: text from no input
	}
	return best, sure
}

// ranks orders categories by how much they change; within a rank the first one counts.
var ranks = map[recountv1.Category]int{
	catNavigate: 1, catQuery: 2, catDebug: 3, catOther: 4, catBuild: 5, catConfigure: 6, catDeploy: 7,
}

// filters are programs that only pass on their input.
var filters = map[string]struct{}{
	"cat": {}, "head": {}, "sort": {}, "tr": {}, "tee": {}, "xargs": {}, "echo": {}, "uniq": {},
}

// generators are programs that print text without input.
var generators = map[string]bool{"echo": true, "seq": true}

// generated reports whether the command begins with a generator.
func (r *reader) generated(inner bool) bool {
	for _, v := range r.votes {
		if v.inner == inner {
			return generators[v.program]
		}
	}
	return false
}

// asks reports whether a query reads something outside the command; a program that filters text
// does so only if it reads a file.
func (r *reader) asks(v vote) bool {
	if s := synopses()[v.program]; s == nil || !textual[s.first] {
		return true
	}
	for i := range r.items {
		if it := &r.items[i]; it.kind == kindArgument && (it.place == "<path>" || it.place == "<glob>") {
			return true
		}
	}
	return r.readsFile()
}

// textual are the programs that filter text if they are given no file, by their first names.
var textual = map[string]bool{
	"cat": true, "head": true, "grep": true, "rg": true, "awk": true, "sed": true, "cut": true, "sort": true,
	"uniq": true, "wc": true, "paste": true, "tr": true, "md5sum": true, "jq": true,
}

func (r *reader) readsFile() bool {
	for _, red := range r.redirs {
		if red.access != recountv1.Access_ACCESS_WRITE {
			return true
		}
	}
	return false
}

func (r *reader) writesFile() bool {
	for _, red := range r.redirs {
		if red.access != recountv1.Access_ACCESS_READ && !strings.HasPrefix(red.target.value, "/dev/") {
			return true
		}
	}
	return false
}

// turnRule is a rule that changes a program's category if it is called with one of flags: flags, or
// first arguments without a dash. "" means a call without arguments.
type turnRule struct {
	flags    string
	category recountv1.Category
}

var turns = map[string][]turnRule{
	"sed":           {{"-i --in-place", catOther}},
	"perl":          {{"-i", catOther}},
	"python":        {{"pytest unittest build --test", catBuild}, {"pip venv", catConfigure}},
	"sort":          {{"-o --output", catOther}},
	"head":          {{"-f -F --follow", catDebug}},
	"gzip":          {{"-c --stdout --to-stdout -l --list -t", catQuery}},
	"tar":           {{"-t --list", catQuery}},
	"unzip":         {{"-l -p -t -v", catQuery}},
	"cpio":          {{"-t", catQuery}},
	"bash":          {{"", catOther}}, // runs the input of the pipe
	"crontab":       {{"-l", catQuery}},
	"history":       {{"-c -r -w -a -d -n", catConfigure}},
	"mount":         {{"", catQuery}, {"-l", catQuery}},
	"export":        {{"", catQuery}, {"-p", catQuery}},
	"uname":         {{"--set -s", catQuery}},
	"git branch":    {{"", catQuery}, {"-a -r -v -vv --list --contains --merged", catQuery}},
	"git stash":     {{"list show", catQuery}},
	"git remote":    {{"", catQuery}, {"-v show get-url", catQuery}},
	"git config":    {{"-l --list --get --get-all", catQuery}},
	"git submodule": {{"status list", catQuery}},
	"dpkg":          {{"-l -L -s -S", catQuery}, {"-q -qa -ql -qf -qi", catQuery}, {"-Q -Qi -Ss", catQuery}},
	"ssh":           {{"-N", catConfigure}},
	"sysctl":        {{"-a", catQuery}, {"", catQuery}},
	"systemctl":     {{"", catDebug}, {"status", catDebug}},
	"curl":          {{"-T --upload-file", catDeploy}, {"-X -d --data -F --request", catOther}, {"-v -I", catDebug}},
	"ansible":       {{"--list-hosts --check", catQuery}},
	"patch":         {{"--dry-run", catQuery}},
	"ifconfig":      {{"up down add del set", catConfigure}},
}

// turn returns the category of a program for this call: that of the first matching rule, else the
// synopsis's.
func turn(syn *synopsis, items []item, words []int) recountv1.Category {
	rules := turns[syn.first]
	for _, rule := range rules {
		if rule.flags == "" && len(words) == 0 {
			return rule.category
		}
	}
	for _, w := range words {
		it := &items[w]
		if it.value == "--help" || it.value == "--version" {
			return catQuery
		}
		for _, rule := range rules {
			for f := range strings.FieldsSeq(rule.flags) {
				if hasFlag(it, f) {
					return rule.category
				}
			}
		}
	}
	return syn.category
}

// hasFlag reports whether a word is a flag, contains it in a cluster of letters (-dc contains -c),
// or begins with it and is followed by its value (-i.bak, --in-place=.bak).
func hasFlag(it *item, flag string) bool {
	v := it.value
	switch {
	case v == flag:
		return true
	case it.kind != kindFlag || len(flag) < 2 || flag[0] != '-':
		return false
	case flag[1] == '-':
		return strings.HasPrefix(v, flag+"=")
	case len(flag) > 2 || v[1] == '-':
		return false
	}
	letters := strings.TrimLeft(v[1:], "0123456789")
	if i := strings.IndexAny(letters, ".=/"); i >= 0 {
		letters = letters[:i]
	}
	return len(letters) <= 5 && strings.IndexByte(letters, flag[1]) >= 0
}
