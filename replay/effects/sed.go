package effects

import (
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// sed judges a call of sed by its flags, and by its scripts, which may write and read files of their own.
func (f *finder) sed(c *shell.Call) {
	var scripts, operands []shell.Word
	in, given, backup := false, false, ""
	for i := 0; i < len(c.Args); i++ {
		a := c.Args[i]
		next := func() shell.Word {
			if i+1 < len(c.Args) {
				i++
				return c.Args[i]
			}
			return shell.Word{}
		}
		switch v := a.Value; {
		case v == "--":
			operands = append(operands, c.Args[i+1:]...)
			i = len(c.Args)
		case v == "--expression":
			given = true
			scripts = append(scripts, next())
		case strings.HasPrefix(v, "--expression="):
			given = true
			a.Value = v[len("--expression="):]
			scripts = append(scripts, a)
		case v == "--file", strings.HasPrefix(v, "--file="):
			given = true
			file := a
			if file.Value = strings.TrimPrefix(v, "--file="); v == "--file" {
				file = next()
			}
			scripts = append(scripts, f.sedFile(c, file))
		case v == "--in-place", strings.HasPrefix(v, "--in-place="):
			in, backup = true, strings.TrimPrefix(strings.TrimPrefix(v, "--in-place"), "=")
		case v == "--line-length":
			next()
		case strings.HasPrefix(v, "--"):
		case len(v) > 1 && v[0] == '-':
			for k := 1; k < len(v); k++ {
				rest := v[k+1:]
				switch v[k] {
				case 'i':
					in, backup = true, rest
				case 'e', 'f', 'l':
					w := a
					if w.Value = rest; rest == "" {
						w = next()
					}
					if v[k] == 'f' {
						w = f.sedFile(c, w)
					}
					if v[k] != 'l' {
						given = true
						scripts = append(scripts, w)
					}
				default:
					continue
				}
				break
			}
		default:
			operands = append(operands, a)
		}
	}
	if !given && len(operands) > 0 {
		scripts, operands = operands[:1], operands[1:]
	}
	acts := f.acts
	for _, s := range scripts {
		f.sedFiles(c, s)
	}
	if !in {
		if f.acts == acts {
			f.sees++
		}
		f.readWords(c, operands)
		return
	}
	f.acts++
	f.changes(c, operands, backup)
}

// changes adds files that a program changes in place, and the copies that it leaves.
func (f *finder) changes(c *shell.Call, files []shell.Word, backup string) {
	if len(files) == 0 {
		f.opaque(c.Dir)
	}
	for _, w := range files {
		if strings.Contains(w.Value, "{}") {
			f.opaque(c.Dir)
			continue
		}
		f.path(w, c.Dir, Update, false)
		if backup != "" && !w.Glob {
			if w.Value += backup; !strings.ContainsAny(backup, "*/") {
				f.path(w, c.Dir, Write, false)
			}
		}
	}
}

// sedFile reads a file with a script, and returns its content as far as that is known.
func (f *finder) sedFile(c *shell.Call, file shell.Word) shell.Word {
	f.path(file, c.Dir, Read, false)
	name, _, _ := f.named(file, c.Dir)
	text, _ := f.content(name)
	return shell.Word{Value: text}
}

// sedFiles adds the files that the commands w, W, r and R of a script name, and the flag w of s.
func (f *finder) sedFiles(c *shell.Call, script shell.Word) {
	s := script.Value
	file := func(from int, access Access) int {
		end := len(s)
		if n := strings.IndexByte(s[from:], '\n'); n >= 0 {
			end = from + n
		}
		name := strings.TrimSpace(s[from:end])
		if access != Read && !shell.IsDevice(name) {
			f.acts++
		}
		f.path(shell.Word{Value: name, Dynamic: script.Dynamic && strings.ContainsAny(name, "$`"), Quoted: true}, c.Dir, access, false)
		return end
	}
	for i := 0; i < len(s); {
		i = sedAddress(s, i)
		if i >= len(s) {
			return
		}
		command := s[i]
		i++
		switch command {
		case 'w', 'W':
			i = file(i, Write)
		case 'r', 'R':
			i = file(i, Read)
		case 's', 'y':
			if i >= len(s) {
				return
			}
			by := s[i]
			i = sedPart(s, sedPart(s, i+1, by), by)
			for i < len(s) && strings.IndexByte("gpiImMe0123456789", s[i]) >= 0 {
				i++
			}
			if command == 's' && i < len(s) && s[i] == 'w' {
				i = file(i+1, Write)
			}
		case 'a', 'i', 'c':
			for i < len(s) && s[i] != '\n' { // a line that ends with a backslash goes on
				if s[i] == '\\' {
					i++
				}
				i++
			}
		case 'b', 't', 'T', ':', 'q', 'Q', 'l', 'L', 'v':
			for i < len(s) && s[i] != '\n' && s[i] != ';' && s[i] != '}' {
				i++
			}
		case '#':
			for i < len(s) && s[i] != '\n' {
				i++
			}
		}
	}
}

// sedAddress returns where the command after an address, blanks and separators begins.
func sedAddress(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case strings.IndexByte(" \t\n;!,+~$0123456789I", c) >= 0:
			i++
		case c == '/':
			i = sedPart(s, i+1, '/')
		case c == '\\' && i+1 < len(s):
			i = sedPart(s, i+2, s[i+1])
		default:
			return i
		}
	}
	return i
}

// sedPart returns what follows the next delimiter.
func sedPart(s string, i int, by byte) int {
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if by != '[' {
				// A delimiter in brackets is none.
				if end := strings.IndexByte(s[min(i+2, len(s)):], ']'); end >= 0 && !strings.Contains(s[i:i+2+end], "\n") {
					i += 2 + end
				}
			}
		case by:
			return i + 1
		}
	}
	return len(s)
}

// perl judges a call of perl: with -i it changes files in place, a program in a word is judged by what it
// names, and a script may do anything.
func (f *finder) perl(c *shell.Call) {
	in, given, backup := false, false, ""
	var operands []shell.Word
	for i := 0; i < len(c.Args); i++ {
		v := c.Args[i].Value
		if len(v) < 2 || v[0] != '-' {
			operands = append(operands, c.Args[i])
			continue
		}
		cluster := v[1:]
		for k := 0; k < len(cluster); k++ {
			switch cluster[k] {
			case 'i':
				// Only with a dot is what follows an ending, as people write -pie.
				if in = true; k+1 < len(cluster) && cluster[k+1] == '.' {
					backup = cluster[k+1:]
					k = len(cluster)
				}
			case 'e', 'E':
				if given = true; k == len(cluster)-1 && i+1 < len(c.Args) {
					if i++; f.oneLiner(c, c.Args[i]) {
						f.acts++
						f.opaque(c.Dir)
					}
				}
			case 'I', 'M', 'm', 'F', '0', 'l', 'x', 'C', 'D', 'V':
				if cluster[k] != 'l' && cluster[k] != '0' {
					k = len(cluster)
				}
			}
		}
	}
	if !given && len(operands) > 0 {
		f.Known = false
		f.acts++
		f.path(operands[0], c.Dir, Read, false)
		f.opaque(c.Dir) // a script of its own
		return
	}
	if !in {
		f.sees++
		f.readWords(c, operands)
		return
	}
	f.acts++
	f.changes(c, operands, backup)
}
