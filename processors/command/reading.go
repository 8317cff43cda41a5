package command

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// reader processes the simple commands of a line and classifies each word as a subcommand, a flag,
// or an argument in some role. This gives the kinds and template texts of the line's items, the
// programs and the resources.
type reader struct {
	*line
	where location
	// placed means that the result depends on the directory in which the line ran.
	placed    bool
	programs  []string
	ran       int // programs, known or not
	known     int // those of them that are in the tables
	resources []*recountv1.Resource
	seen      map[resourceKey]int
	votes     []vote
	remote    bool // something was copied from or to another machine
	inner     bool // the current call is in a substitution
	depth     int  // of nested command lines inside words
	via       string
	// elsewhere means that the current command runs in a container or on another machine, whose
	// paths are not those of this machine.
	elsewhere bool
	subshells bool // a "(" makes it unclear how far a cd reaches
	done      int  // redirections processed
}

// vote is what one program contributes to the category of the whole command.
type vote struct {
	category recountv1.Category
	program  string // its name in the tables, with its subcommands
	known    bool
	inner    bool
}

const (
	kindBinary     = recountv1.TokenKind_TOKEN_KIND_BINARY
	kindSubcommand = recountv1.TokenKind_TOKEN_KIND_SUBCOMMAND
	kindFlag       = recountv1.TokenKind_TOKEN_KIND_FLAG
	kindArgument   = recountv1.TokenKind_TOKEN_KIND_ARGUMENT
	kindAssignment = recountv1.TokenKind_TOKEN_KIND_ASSIGNMENT
)

func (r *reader) all() {
	for i := range r.items {
		if r.items[i].kind == recountv1.TokenKind_TOKEN_KIND_KEYWORD && r.items[i].text == "(" {
			r.subshells = true
		}
	}
	for _, c := range r.calls {
		r.redirections(c.words[0])
		r.inner, r.elsewhere = c.inner, false
		r.call(c.words)
	}
	r.inner, r.elsewhere = false, false
	r.redirections(len(r.items))
}

// redirections adds the files of the redirections before an item, so that each is resolved in the
// directory that is current at that point.
func (r *reader) redirections(before int) {
	for ; r.done < len(r.redirs) && r.redirs[r.done].item < before; r.done++ {
		red := &r.redirs[r.done]
		r.resource(red.target.value, red.access, &red.target)
	}
}

// goes applies a cd to the paths that follow it.
func (r *reader) goes(words []int) {
	if r.inner || r.subshells || len(words) == 0 {
		return
	}
	to := &r.items[words[len(words)-1]]
	dir, ok := "", false
	if !isFlag(to) && !to.subst && !to.glob && to.value != "-" {
		dir, ok = r.resolve(to.value, to.dynamic)
	}
	if r.where.cwd = ""; ok {
		r.where.cwd = dir
	}
}

// call processes one simple command and the commands that it runs.
func (r *reader) call(words []int) {
	r.via = ""
	for len(words) > 0 {
		words = r.one(words)
	}
}

// one processes a command up to the start of a nested one, and returns the remaining words.
func (r *reader) one(words []int) (rest []int) {
	head := &r.items[words[0]]
	if isAssignment(head.text) {
		// env A=b command
		r.assignment(head)
		return words[1:]
	}
	if head.quoted && strings.ContainsAny(head.value, " \t\n") && r.via != "" {
		// ssh host 'a && b': a command line in one word.
		for _, w := range words {
			r.argument(&r.items[w], roleText)
		}
		r.elsewhere = r.elsewhere || abroad[r.via]
		r.within(head)
		return nil
	}
	head.kind = kindBinary
	name := base(head.value)
	if name == "" {
		name = head.value
	}
	syn := lookup(name)
	switch {
	case head.subst:
		head.place = ""
	case head.dynamic:
		head.place = "<var>"
	default:
		head.place = name
		r.ran++
		r.file(head)
		if len(r.programs) < maxPrograms && strings.TrimSpace(name) != "" {
			r.programs = append(r.programs, name)
		}
	}
	if syn == nil || head.dynamic {
		v := vote{inner: r.inner, program: name, category: guess(name, r.items, words[1:])}
		if v.category == 0 && (r.via == "find" || r.via == "xargs") {
			v.category = catOther // it acts on what was found, whatever it does
		}
		r.votes = append(r.votes, v)
		r.unknown(words[1:])
		return nil
	}
	r.known++
	if syn.first == "tar" && len(words) > 1 {
		dashed(&r.items[words[1]])
	}
	syn = syn.variantFor(r.items, words[1:])
	at := len(r.votes)
	r.votes = append(r.votes, vote{inner: r.inner, program: syn.first, category: syn.category, known: true})
	if syn.first == "find" {
		r.find(words[1:])
		return nil
	}
	remote := r.remote
	rest, full := r.arguments(syn, syn.first, words[1:])
	v := &r.votes[at]
	v.program = full.first
	v.category = turn(full, r.items, words[1:len(words)-len(rest)])
	if r.remote && !remote {
		v.category = catDeploy
	}
	if syn.first == "cd" {
		r.goes(words[1:])
	}
	if len(rest) > 0 {
		r.via = full.first
		r.elsewhere = r.elsewhere || abroad[full.first]
		if v.category == catNavigate {
			v.category = 0 // ssh to a host in order to run a command there
		}
	}
	return rest
}

// abroad are the programs that run a command in another place.
var abroad = map[string]bool{
	"ssh": true, "docker run": true, "docker exec": true, "docker compose exec": true, "docker-compose exec": true,
	"kubectl exec": true, "chroot": true,
}

// assignment processes NAME=value at the start of a command.
func (r *reader) assignment(it *item) {
	it.kind = kindAssignment
	name, value, _ := strings.Cut(it.value, "=")
	it.place = name + "=" + shape(&item{text: value, value: value, quoted: it.quoted, dynamic: it.dynamic, subst: it.subst})
}

// within processes the command line inside a word: its programs, its category and, if it runs on
// this machine, its resources. The line's own token remains the word.
func (r *reader) within(it *item) {
	if r.depth >= 2 || len(it.value) > maxParse {
		return
	}
	inner := reader{line: scan(it.value, ""), where: r.where, depth: r.depth + 1}
	inner.all()
	r.programs = append(r.programs, inner.programs[:min(len(inner.programs), maxPrograms-len(r.programs))]...)
	r.ran += inner.ran
	r.known += inner.known
	r.remote = r.remote || inner.remote
	r.placed = r.placed || inner.placed
	for _, v := range inner.votes {
		v.inner = r.inner
		r.votes = append(r.votes, v)
	}
	for _, res := range inner.resources {
		r.note(res.Kind, res.Name, res.Access)
	}
}

// unknown processes the words of a program without an entry. Its first argument is treated as a
// subcommand if it looks like one: "mytool serve --port 80".
func (r *reader) unknown(words []int) {
	for i, w := range words {
		it := &r.items[w]
		switch {
		case isFlag(it):
			r.flag(it, nil)
		case i == 0 && isPlainWord(it):
			it.kind, it.place = kindSubcommand, it.value
		default:
			r.argument(it, roleShape)
		}
	}
}

// arguments classifies flags, subcommands and arguments according to a synopsis. It returns the
// words from where another command starts, and the synopsis of the subcommand if there was one.
func (r *reader) arguments(syn *synopsis, name string, words []int) (rest []int, last *synopsis) {
	positional := make([]int, 0, len(words))
	// Flags come first, since the roles of the other words depend on their number.
	flagsEnd := false
	for i := 0; i < len(words); i++ {
		it := &r.items[words[i]]
		if !flagsEnd && it.value == "--" {
			flagsEnd = true
			it.kind, it.place = kindFlag, "--"
			continue
		}
		if !flagsEnd && (isFlag(it) || syn.named(it)) {
			if want, separate := r.flag(it, syn); separate && i+1 < len(words) {
				if want == roleCommand {
					return words[i+1:], syn
				}
				i++
				value := &r.items[words[i]]
				r.argument(value, want)
				if givesPattern[it.value] && len(syn.before) > 0 && syn.before[0] == roleText {
					syn = syn.withoutPattern()
				}
				if want == roleScript {
					r.via = syn.first
					r.within(value)
				}
			}
			continue
		}
		n := len(positional)
		// A subcommand changes what follows.
		if n < len(syn.before) {
			switch syn.before[n] {
			case roleSub:
				if isPlainWord(it) {
					it.kind, it.place = kindSubcommand, it.value
					name += " " + it.value
					sub := synopses()[name]
					if sub == nil {
						sub = &synopsis{first: name, category: syn.category, flags: syn.flags, before: syn.before[n+1:], repeat: syn.repeat, repeats: syn.repeats, after: syn.after}
					}
					r.settle(syn, positional)
					return r.arguments(sub, sub.first, words[i+1:])
				}
			case roleCommand:
				r.settle(syn, positional)
				return words[i:], syn
			}
		}
		positional = append(positional, words[i])
	}
	r.settle(syn, positional)
	return nil, syn
}

// givesPattern are the flags of grep, sed and the like that replace the first argument.
var givesPattern = map[string]bool{
	"-e": true, "-f": true, "--regexp": true, "--file": true, "--expression": true,
}

// file adds the file of a program that is called by its path, unless it is part of the system.
func (r *reader) file(head *item) {
	if !strings.Contains(head.value, "/") {
		return
	}
	for _, dir := range [...]string{"/bin/", "/sbin/", "/usr/"} {
		if strings.HasPrefix(head.value, dir) {
			return
		}
	}
	r.resource(head.value, recountv1.Access_ACCESS_READ, head)
}

// settle assigns roles to the positional arguments.
func (r *reader) settle(syn *synopsis, positional []int) {
	if syn.first == "git clone" && len(positional) == 1 {
		// git clone creates a directory with the repository's name.
		from := &r.items[positional[0]]
		if name := strings.TrimSuffix(base(from.value), ".git"); name != "" && !from.dynamic && !from.glob {
			r.resource(name[strings.LastIndexByte(name, ':')+1:], recountv1.Access_ACCESS_WRITE, from)
		}
	}
	for i, w := range positional {
		r.argument(&r.items[w], syn.roleAt(i, len(positional)))
		r.items[w].again = i > 0 && syn.repeated(i-1, len(positional)) && syn.repeated(i, len(positional))
	}
}

// find processes the expression language of find(1): paths, then primaries, some of which run
// commands.
func (r *reader) find(words []int) {
	for i := 0; i < len(words); i++ {
		it := &r.items[words[i]]
		switch v := it.value; {
		case v == "-exec" || v == "-execdir" || v == "-ok" || v == "-okdir":
			it.kind, it.place = kindFlag, v
			end := i + 1
			for end < len(words) && !(r.items[words[end]].value == ";" || r.items[words[end]].value == "+" && r.items[words[end-1]].value == "{}") {
				end++
			}
			r.via = "find"
			for inner := words[i+1 : end]; len(inner) > 0; {
				inner = r.one(inner)
			}
			if end < len(words) {
				stop := &r.items[words[end]]
				stop.kind, stop.place = kindFlag, stop.text
			}
			i = end
		case v == "-delete" || strings.HasPrefix(v, "-fprint") || v == "-fls":
			it.kind, it.place = kindFlag, v
			r.votes = append(r.votes, vote{inner: r.inner, program: "find " + v, category: catOther, known: true})
		case v == "(" || v == ")" || v == "!" || v == ",":
			it.kind, it.place = kindFlag, it.text
		case len(v) > 1 && v[0] == '-':
			it.kind, it.place = kindFlag, v
			want, takes := findValues[v]
			if takes && i+1 < len(words) {
				i++
				r.argument(&r.items[words[i]], want)
			}
		default:
			r.argument(it, roleRead)
		}
	}
}

// findValues are the primaries of find that take a value.
var findValues = map[string]role{
	"-name": roleText, "-iname": roleText, "-path": roleText, "-ipath": roleText, "-wholename": roleText,
	"-iwholename": roleText, "-regex": roleText, "-iregex": roleText, "-lname": roleText, "-ilname": roleText,
	"-regextype": roleKeep, "-type": roleKeep, "-xtype": roleKeep, "-size": roleNumber, "-mtime": roleNumber,
	"-atime": roleNumber, "-ctime": roleNumber, "-mmin": roleNumber, "-amin": roleNumber, "-cmin": roleNumber,
	"-maxdepth": roleNumber, "-mindepth": roleNumber, "-perm": roleArg, "-user": roleArg, "-group": roleArg,
	"-uid": roleNumber, "-gid": roleNumber, "-newer": roleRead, "-anewer": roleRead, "-cnewer": roleRead,
	"-newermt": roleText, "-newerct": roleText, "-samefile": roleRead, "-inum": roleNumber, "-links": roleNumber,
	"-fstype": roleKeep, "-printf": roleText, "-fprintf": roleWrite, "-fprint": roleWrite, "-fprint0": roleWrite,
	"-fls": roleWrite, "-used": roleNumber, "-context": roleArg,
}

func isFlag(it *item) bool {
	v := it.value
	if len(v) < 2 || v[0] != '-' {
		return false
	}
	// -1.5 and -3M are values; -1 is a flag of head and tail. A quoted word with spaces is always a
	// value.
	return it.text[0] == '-' && (isDigits(v[1:]) || !isNumber(v[1:])) || !strings.ContainsAny(v, " \t\n") && !isNumber(v)
}

// isPlainWord reports whether an item looks like the name of a subcommand.
func isPlainWord(it *item) bool {
	v := it.value
	if it.quoted || it.dynamic || it.glob || v == "" || len(v) > 32 || v[0] < 'a' || v[0] > 'z' {
		return false
	}
	for i := 0; i < len(v); i++ {
		if c := v[i]; !(c >= 'a' && c <= 'z' || c == '-' || c == ':' || c == '_') {
			return false
		}
	}
	return true
}

// flag classifies a flag. It returns the role of its value, and whether that value is the next
// word.
func (r *reader) flag(it *item, syn *synopsis) (want role, separate bool) {
	it.kind = kindFlag
	v := it.value
	it.place = v
	name, value, hasValue := strings.Cut(v, "=")
	if hasValue && isFlagName(name) {
		want = roleShape
		if syn != nil {
			if w, ok := syn.flags[name]; ok {
				want = w
			}
		}
		inner := item{text: value, value: value, quoted: it.quoted, dynamic: it.dynamic, glob: it.glob, subst: it.subst}
		r.argument(&inner, want)
		it.place = name + "=" + inner.place
		if it.subst {
			it.place = name + "="
		}
		return want, false
	}
	if it.subst {
		it.place = ""
		return roleShape, false
	}
	if syn != nil {
		if w, ok := syn.flags[v]; ok {
			return w, true
		}
		// -am MSG: the last letter of a cluster takes the value. -fFILE, -j8: the value is in the
		// same word.
		if len(v) > 2 && v[1] != '-' {
			if w, ok := syn.flags[v[:2]]; ok {
				inner := item{text: v[2:], value: v[2:], dynamic: it.dynamic, quoted: it.quoted}
				r.argument(&inner, w)
				it.place = v[:2] + inner.place
				return w, false
			}
			if w, ok := syn.flags["-"+v[len(v)-1:]]; ok && isLetters(v[1:]) {
				return w, true
			}
		}
	}
	if !it.dynamic {
		it.place = numbersOf(v)
	}
	return roleShape, false
}

func isFlagName(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isWordByte(c) && c != '-' && c != '.' && c != ':' && c != '+' {
			return false
		}
	}
	return true
}

func isLetters(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}

// numbersOf replaces the number at the end of a flag: -n5, -10, -j8.
func numbersOf(flag string) string {
	head := strings.TrimRight(flag, "0123456789")
	if len(head) == len(flag) || len(head) > 2 || flag == "-0" { // the 0 of xargs -0 is not a number
		return flag
	}
	return head + "<num>"
}
