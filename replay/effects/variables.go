package effects

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// maxValue is the maximum length of an expanded word in bytes. A line of assignments that each name the one before
// twice would double it every time.
const maxValue = 64 << 10

// expand replaces variables whose values are known. A word that becomes longer than maxValue is left as it is.
func (f *finder) expand(w shell.Word) shell.Word {
	if !w.Dynamic {
		return w
	}
	if dir := f.ownDirectory(w.Value); dir != "" {
		return shell.Word{Text: w.Text, Value: dir, Quoted: w.Quoted}
	}
	var b strings.Builder
	rest, known := w.Value, true
	for {
		i := strings.IndexByte(rest, '$')
		if i < 0 || strings.IndexByte(rest, '`') >= 0 {
			break
		}
		b.WriteString(rest[:i])
		name, operator, after := variable(rest[i+1:])
		value, ok := f.value(name)
		if name != "" {
			value, ok = operate(value, ok, operator)
		}
		if name == "" || !ok {
			known = false
			b.WriteString(rest[i : len(rest)-len(after)])
		} else {
			b.WriteString(value)
		}
		if rest = after; b.Len() > maxValue {
			return w
		}
	}
	b.WriteString(rest)
	w.Value = b.String()
	w.Dynamic = !known || strings.Contains(w.Value, "`")
	return w
}

// own matches the ways in which a script names its own directory.
var own = lazyregexp.New(`^\$\((?:cd (?:-- )?"?\$\()?dirname (?:-- )?"?\$\{?(?:0|BASH_SOURCE(?:\[0\])?)\}?"?\)(?:"? *(?:&&|;) *pwd(?: -P)?\))?$`)

// ownDirectory returns the directory of the script around this place if a word is that, "" otherwise.
func (f *finder) ownDirectory(word string) string {
	if !own.MatchString(word) {
		return ""
	}
	for _, name := range slices.Backward(f.within) {
		if strings.HasPrefix(name, "/") {
			return path.Dir(name)
		}
	}
	return ""
}

// maxItems bounds how many words of a loop are looked at one by one.
const maxItems = 32

// items returns what a word may be: if it names the variable of a loop over words that are known, one word
// for each of them.
func (f *finder) items(w shell.Word) []shell.Word {
	if !w.Dynamic || f.bound != nil {
		return []shell.Word{w}
	}
	for name, items := range f.Line.Loops {
		if len(items) == 0 || len(items) > maxItems || !strings.Contains(w.Value, "$"+name) && !strings.Contains(w.Value, "${"+name) {
			continue
		}
		var out []shell.Word
		for _, item := range items {
			if item = f.expand(item); item.Dynamic || strings.Contains(item.Value, "{") {
				return []shell.Word{w}
			}
			f.bound = map[string]string{name: item.Value}
			one := f.expand(w)
			f.bound = nil
			if one.Dynamic {
				return []shell.Word{w}
			}
			one.Glob = one.Glob || item.Glob
			out = append(out, one)
		}
		return out
	}
	return []shell.Word{w}
}

// value returns the value of a variable, or of an argument of the function or script around it.
func (f *finder) value(name string) (string, bool) {
	if _, loops := f.Line.Loops[name]; loops {
		value, bound := f.bound[name]
		return value, bound
	}
	if name == "" || f.unsure[name] {
		return "", false
	}
	if n := int(name[0] - '0'); n >= 0 && n <= 9 {
		if len(f.within) == 0 || f.args == nil || n == 0 || len(name) > 1 {
			return "", false
		}
		if n > len(f.args) {
			return "", true
		}
		a := f.args[n-1]
		return a.Value, !a.Dynamic && !a.Glob
	}
	if v, ok := f.Values[name]; ok {
		return v, true
	}
	if v, ok := f.c.Vars[name]; ok {
		return v, true
	}
	switch name {
	case "HOME":
		return f.c.Home, f.c.Home != ""
	case "PWD":
		return f.c.Cwd, true
	case "USER", "LOGNAME":
		return f.c.User, f.c.User != ""
	}
	return "", false
}

// operate applies what follows a name in braces: a default, a message for when there is none, or an
// ending to cut off.
func operate(value string, known bool, operator string) (string, bool) {
	if operator == "" || !known {
		return value, known
	}
	rest, colon := strings.CutPrefix(operator, ":")
	if rest == "" {
		return "", false
	}
	switch arg := rest[1:]; rest[0] {
	case '?':
		return value, value != "" || !colon
	case '-', '=':
		if value == "" && colon {
			return arg, !strings.ContainsAny(arg, "$`\"'\\")
		}
		return value, true
	case '%':
		return strings.TrimSuffix(value, arg), !colon && !strings.ContainsAny(arg, "*?[$`\"'\\%")
	}
	return "", false
}

// mktemp matches a substitution that is one call of mktemp.
var mktemp = lazyregexp.New("^(?:\\$\\(|`)\\s*mktemp((?:\\s+[^\\s()$`'\"|;&<>]+)*)\\s*[)`]$")

// unnamed begins the name that stands for a file or a directory whose name mktemp chooses.
const unnamed = "mktemp\u00b7"

// Temporary reports whether a path stands for what mktemp made, or lies in it, so that its name is another one in each run.
func Temporary(name string) bool { return strings.Contains(name, "/"+unnamed) }

// temporary returns the value of an assignment. Of $(mktemp) that is a path which stands for the one that mktemp chooses.
func (f *finder) temporary(v shell.Variable) shell.Word {
	m := mktemp.FindStringSubmatch(v.Value.Value)
	if m == nil || v.Maybe {
		return v.Value
	}
	dir, below := "/tmp", false
	for _, word := range strings.Fields(m[1]) {
		switch at, ok := strings.CutPrefix(word, "--tmpdir="); {
		case ok:
			dir, below = at, true
		case word == "-d", word == "-q", word == "-u", word == "-t", word == "--directory", strings.HasPrefix(word, "--suffix="):
		case !strings.HasPrefix(word, "-") && strings.Contains(word, "XXX") && !below:
			dir = path.Dir(word)
		default:
			return v.Value
		}
	}
	if at, ok := shell.Resolve(shell.Word{Value: dir}, f.c.Cwd, f.c.Home); ok {
		return shell.Word{Text: v.Value.Text, Value: path.Join(at, unnamed+v.Name)}
	}
	return v.Value
}

// soFar returns a word with the values of variables, as the line that is being read has set them so far.
func (f *finder) soFar(w shell.Word) shell.Word {
	f.variables()
	f.args = shifted(f.args, f.Line.Calls)
	return f.expand(w)
}

// shifted returns the arguments of a function or script after some calls in it: shift takes the first ones away. They
// are nil, which means that they are not known, after other changes.
func shifted(args []shell.Word, calls []shell.Call) []shell.Word {
	for i := range calls {
		c := &calls[i]
		if args == nil || c.Inner || c.Apart || c.Deferred || !moves(*c) {
			continue
		}
		n, err := 1, error(nil)
		if len(c.Args) > 0 {
			n, err = strconv.Atoi(c.Args[0].Value)
		}
		if c.Name != "shift" || c.Maybe || err != nil || n < 0 || n > len(args) {
			return nil
		}
		args = args[n:]
	}
	return args
}

// variable cuts a name, or {name} with an operator behind the name, off the beginning of s. The name is ""
// if there is none that could be known.
func variable(s string) (name, operator, after string) {
	if strings.HasPrefix(s, "{") {
		end := strings.IndexByte(s, '}')
		if end < 0 || strings.Contains(s[1:end], "{") {
			return "", "", s
		}
		name, operator = cutName(s[1:end])
		return name, operator, s[end+1:]
	}
	name, after = cutName(s)
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return s[:1], "", s[1:] // $12 is ${1}2
	}
	return name, "", after
}

func cutName(s string) (name, after string) {
	n := 0
	for n < len(s) && (s[n] == '_' || s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || s[n] >= '0' && s[n] <= '9') {
		n++
	}
	if n > 0 && s[0] >= '0' && s[0] <= '9' && strings.Trim(s[:n], "0123456789") != "" {
		return s[:1], s[1:]
	}
	return s[:n], s[n:]
}

// given returns a call of a function or a script with what that was given in the place of "$@".
func (f *finder) given(c *shell.Call) *shell.Call {
	all := func(w shell.Word) bool { return w.Value == "$@" || w.Value == "${@}" }
	if f.args == nil || !slices.ContainsFunc(c.Args, all) {
		return c
	}
	with := *c
	with.Args = nil
	for _, w := range c.Args {
		if all(w) {
			with.Args = append(with.Args, f.args...)
		} else {
			with.Args = append(with.Args, w)
		}
	}
	return &with
}

// mentions notes the paths that words of a call may name, and what it is fed. What a builder is told are its targets,
// what cat is fed is a text for others, and what git is told is judged by its own rules.
func (f *finder) mentions(c *shell.Call) {
	if c.Abroad || c.Name == "git" && c.Sub() != "config" || builders[c.Name] || wordsOnly[c.Name] {
		return
	}
	note := func(w shell.Word) {
		if strings.Trim(w.Value, "0123456789") == "" {
			return // a number names a file only by chance
		}
		if name, ok := shell.Resolve(w, c.Dir, f.c.Home); ok && w.Value != "." && !slices.Contains(f.Mentions, name) {
			f.Mentions = append(f.Mentions, name)
		}
	}
	text := func(text string) {
		for _, w := range strings.FieldsFunc(text[:min(len(text), 8000)], apartFromNames) {
			if w = strings.TrimSuffix(w, "."); strings.ContainsAny(w, "./") {
				note(shell.Word{Value: w, Quoted: true})
			}
		}
	}
	if c.Document != nil && !takesText[c.Name] {
		text(*c.Document)
	}
	for _, w := range c.Args {
		w = f.expand(w)
		if strings.ContainsAny(w.Value, " \n") {
			text(w.Value)
			continue
		}
		if w.Glob || w.Dynamic {
			continue
		}
		for rest, more := w.Value, true; more; {
			note(shell.Word{Value: rest, Quoted: w.Quoted})
			i := strings.IndexAny(rest, ":=@,")
			if more = i >= 0; more {
				rest = rest[i+1:]
			}
		}
	}
}

// apartFromNames reports whether a character stands between the names of files in a text.
func apartFromNames(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 127 || strings.ContainsRune("_./+-", r))
}

// takesText are programs to which what they are fed is a text.
var takesText = words("cat tee patch ed install dd sponge base64 wc sort")
