package effects

import (
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// opens matches what opens a file up to its mode.
const opens = `\b(?:open|fopen|ZipFile|File\.new)\(\s*['"]([^'"]+)['"]\s*,\s*(?:mode\s*=\s*)?`

// literal matches what one-line programs of Python, JavaScript, Ruby and Perl write where the file is named
// by a string: open('f', 'w'), Path('f').write_text(…), writeFileSync('f', …), File.write('f', …).
var literal = []struct {
	pattern *lazyregexp.Regexp
	access  Access
}{
	{lazyregexp.New(`\bwriteFile(?:Sync)?\(\s*['"]([^'"]+)['"]`), Write},
	{lazyregexp.New(`\bappendFile(?:Sync)?\(\s*['"]([^'"]+)['"]`), Update},
	{lazyregexp.New(`\bPath\(\s*['"]([^'"]+)['"]\s*\)\.write_(?:text|bytes)\(`), Write},
	{lazyregexp.New(`\bFile\.(?:bin)?write\(?\s*['"]([^'"]+)['"]`), Write},
	{lazyregexp.New(`\bopen\s*\(?\s*(?:my\s+)?\$?\w+\s*,\s*['"]>(?::\w+)?['"]\s*,\s*['"]([^'"]+)['"]`), Write}, // Perl
	{lazyregexp.New(`\bopen\s*\(?\s*(?:my\s+)?\$?\w+\s*,\s*['"]>>(?::\w+)?['"]\s*,\s*['"]([^'"]+)['"]`), Update},
	{lazyregexp.New(opens + `['"][wx][bt+]*['"]`), Write},
	{lazyregexp.New(opens + `['"](?:a[bt+]*|r[bt]*\+[bt]*)['"]`), Update},
}

var (
	// handles match what goes to something that was opened, or to the output.
	handles = lazyregexp.New(`\.(write|writelines|dump|print|puts)\s*\(|require\(\s*['"](node:)?fs(/promises)?['"]\s*\)|\bfs\.(readFile|exists|stat|readdir)\w*|\bfs\b\s*[=,;.)}]`)
	// writesInOneLine matches what else may change files.
	writesInOneLine = lazyregexp.New(`(?i)open\s*\([^)]*['"][wax>]|open\s*\([^)]*,\s*[a-z]|\bopen\b[^;]*['"]\s*\+?[>|]|write|save|dump|to_(csv|json|parquet|excel|pickle|html|sql)\b|extractall|archive|mkdir|remove|unlink|rename|copy|move|symlink|chmod|subprocess|system|popen|exec|spawn|\bfs\b|` + "`")
)

// withoutText returns the operands of a call without the text of a program, as behind -c.
func withoutText(c *shell.Call) []shell.Word {
	if shells[c.Name] {
		return shell.Operands(c.Args, "-c -e --eval")
	}
	return shell.Operands(c.Args, "")
}

// oneLiner adds what a program in a word writes to files that it names, and reports whether it may write
// others too.
func (f *finder) oneLiner(c *shell.Call, program shell.Word) bool {
	text := program.Value
	for _, l := range literal {
		for _, m := range l.pattern.FindAllStringSubmatch(text, -1) {
			f.acts++
			f.path(shell.Word{Value: m[1], Dynamic: program.Dynamic && strings.ContainsAny(m[1], "$`"), Quoted: true}, c.Dir, l.access, false)
		}
		text = l.pattern.ReplaceAllString(text, " ")
	}
	if sendsInOneLine.MatchString(text) {
		for _, m := range addressInOneLine.FindAllStringSubmatch(text, -1) {
			f.talks(f.expand(shell.Word{Value: m[1], Dynamic: strings.HasPrefix(m[1], "$")}), false)
		}
	}
	return writesInOneLine.MatchString(handles.ReplaceAllString(text, " "))
}

var (
	// sendsInOneLine matches what sends something to a service, addressInOneLine a port of this machine.
	sendsInOneLine   = lazyregexp.New(`\bsend(?:all|to)?\s*\(|\burlopen\([^)]*,|\bRequest\([^)]*,|\brequests\.(?:post|put|patch|delete)\(|['"](?:POST|PUT|PATCH|DELETE)['"]|\bServerProxy\(|\bIO::Socket|\bnet\.(?:connect|createConnection)\(|\bTCPSocket\b`)
	addressInOneLine = lazyregexp.New(`(?:localhost|127\.0\.0\.1)\b['"]?\s*(?::|,|=>|\)?,?\s*(?:PeerPort|port)\s*(?:=>|:|=))\s*['"]?(\d{2,5}|\$\w+)`)
)

var (
	// standard matches the lines that import modules which read no file of their own accord.
	standard = lazyregexp.New(`(?m)^\s*(?:import|from)\s+(?:pathlib|re|json|os|sys|io|textwrap|string|math|datetime|time|collections|itertools|functools|hashlib|csv|random|difflib|typing|shutil|configparser)\b[^,\n]*$`)
	// elsewhere matches what may read files that the text does not name.
	elsewhere = lazyregexp.New(`(?m)^\s*(?:import|from)\s|\b(?:r?glob|walk|listdir|scandir|iterdir|subprocess|system|popen|spawn\w*|exec\w*|eval|__import__|argv|environ|getenv|stdin|input)\b|(?:^|[^\w'"\\])(?:[fF][rR]?|[rR][fF])['"]`)
	// named matches strings that may name a file.
	named = lazyregexp.New(`^(?:[\w.~-]+/)*[\w.~-]+$`)
)

// edits judges Python that is given its whole text by a document, as agents edit files: where the text names what it
// reads, it reads nothing else. What it writes is not known.
func (f *finder) edits(c *shell.Call) bool {
	ws := shell.Operands(c.Args, "")
	if !strings.HasPrefix(c.Name, "python") || c.Document == nil || len(c.Args) > 1 || len(ws) > 1 || len(c.Args) == 1 && c.Args[0].Value != "-" {
		return false
	}
	code, literals, ok := pythonCode(*c.Document)
	if !ok || elsewhere.MatchString(standard.ReplaceAllString(code, "")) {
		return false
	}
	f.Known = false
	f.acts++
	for _, v := range literals {
		if named.MatchString(v) {
			f.path(shell.Word{Value: v, Quoted: true}, c.Dir, Read, false)
		}
	}
	f.NamesReads = len(f.Opaque) == 0
	f.opaque(c.Dir)
	return true
}

// pythonCode returns a program in Python without its comments and what is in its strings, and these: code that an edit puts
// into a file stands in a string and does not run. ok is false if a string does not end.
func pythonCode(text string) (code string, literals []string, ok bool) {
	var out strings.Builder
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '#':
			end := strings.IndexByte(text[i:], '\n')
			if end < 0 {
				end = len(text) - i
			}
			i += end
		case c == '\'' || c == '"':
			quote := text[i : i+1]
			if strings.HasPrefix(text[i:], strings.Repeat(quote, 3)) {
				quote = strings.Repeat(quote, 3)
			}
			begin := i + len(quote)
			end := begin
			for ; end < len(text) && !strings.HasPrefix(text[end:], quote); end++ {
				if text[end] == '\\' {
					end++
				} else if text[end] == '\n' && len(quote) == 1 {
					return "", nil, false
				}
			}
			if end >= len(text) {
				return "", nil, false
			}
			literals = append(literals, text[begin:end])
			out.WriteString(quote[:1] + quote[:1])
			i = end + len(quote)
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String(), literals, true
}
