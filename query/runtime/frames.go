package runtime

import (
	"strconv"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
)

// frame is a place in a stack trace.
type frame struct {
	file     string
	line     uint32
	function string
	source   string // the line of code, where the trace quotes it
}

// These are the forms in which the languages print a frame: of Python, of JavaScript, of the JVM,
// of .NET, of Ruby, and of Go and Rust, which print the function and the place on two lines.
var (
	framePython = lazyregexp.New(`^\s*File "([^"]+)", line (\d+)(?:, in (.+))?$`)
	frameNode   = lazyregexp.New(`^\s*at (?:async )?(?:(.+?) \()?(?:file://)?([^()]+?):(\d+):\d+\)?$`)
	frameJVM    = lazyregexp.New(`^\s*at (?:[\w.@-]+/{1,2})?([\w.$<>]+)\(([\w$-]+\.\w+):(\d+)\)`)
	frameDotNet = lazyregexp.New(`^\s*at (.+?)\(.*\) in (.+?):line (\d+)$`)
	frameRuby   = lazyregexp.New("^\\s*(?:from )?([^\\s:]+\\.rb):(\\d+):in [`'](.+?)'(?::.*)?$")
	placeGo     = lazyregexp.New(`^\s+(/?\S+\.go):(\d+)(?: \+0x[0-9a-f]+)?$`)
	placeRust   = lazyregexp.New(`^\s+at (\S+\.rs):(\d+)(?::\d+)?$`)
	nameRust    = lazyregexp.New(`^\s*\d+:\s+(?:0x[0-9a-f]+ - )?(\S.*)$`)
)

// maxFrames limits what is read of one stack trace.
const maxFrames = 200

// framesOf reads a stack trace, the frame that raised the error first.
func framesOf(trace string) (all []frame) {
	lines := strings.Split(trace, "\n")
	python := false
	above := "" // the line before, which names the function in Go and Rust
	for i, l := range lines {
		l = strings.TrimRight(l, "\r ")
		var f frame
		switch m := []string(nil); {
		case matches(framePython, l, &m):
			f = frame{file: m[1], line: number(m[2]), function: m[3]}
			if i+1 < len(lines) && !framePython.MatchString(lines[i+1]) {
				f.source = strings.TrimSpace(lines[i+1])
			}
			python = true
		case matches(frameDotNet, l, &m):
			f = frame{file: m[2], line: number(m[3]), function: lastOf(m[1], 2)}
		case matches(frameJVM, l, &m):
			f = frame{file: fileOfClass(m[1], m[2]), line: number(m[3]), function: lastOf(m[1], 2)}
		case matches(placeRust, l, &m):
			f = frame{file: m[1], line: number(m[2])}
			if n := nameRust.FindStringSubmatch(above); n != nil {
				f.function = lastOf(strings.ReplaceAll(n[1], "::", "."), 1)
			}
		case matches(frameNode, l, &m):
			f = frame{file: m[2], line: number(m[3]), function: functionNode(m[1])}
		case matches(frameRuby, l, &m):
			f = frame{file: m[1], line: number(m[2]), function: lastOf(strings.ReplaceAll(m[3], "#", "."), 1)}
		case matches(placeGo, l, &m):
			f = frame{file: m[1], line: number(m[2]), function: functionGo(above)}
		}
		above = l
		if f.file != "" && len(all) < maxFrames {
			all = append(all, f)
		}
	}
	if python { // the newest call last
		for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
			all[i], all[j] = all[j], all[i]
		}
	}
	// What Go prints first is the recording itself, and what recovers from a panic.
	for i, f := range all {
		if f.function == "panic" && i+1 < len(all) && strings.HasSuffix(f.file, "panic.go") {
			return all[i+1:]
		}
	}
	return all
}

func matches(r *lazyregexp.Regexp, s string, m *[]string) bool {
	*m = r.FindStringSubmatch(s)
	return *m != nil
}

func number(s string) uint32 {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

// lastOf returns the last n parts of a dotted name.
func lastOf(name string, n int) string {
	parts := strings.Split(name, ".")
	return strings.Join(parts[max(0, len(parts)-n):], ".")
}

// fileOfClass returns the path of a class: com/acme/Cart.java for com.acme.Cart.add in Cart.java.
func fileOfClass(method, file string) string {
	parts := strings.Split(method, ".")
	if len(parts) < 3 {
		return file
	}
	return strings.Join(append(parts[:len(parts)-2:len(parts)-2], file), "/")
}

// functionNode returns the name of "Object.find" or "new Cart" as the code writes it.
func functionNode(s string) string {
	s = strings.TrimPrefix(s, "new ")
	if i := strings.Index(s, " [as "); i >= 0 {
		s = s[:i]
	}
	for _, owner := range []string{"Object.", "Module.", "Function.", "process."} {
		s = strings.TrimPrefix(s, owner)
	}
	if strings.Contains(s, "<anonymous>") {
		return ""
	}
	return s
}

// functionGo returns the name of "example.org/shop/cart.(*Server).Get(0xc000, …)".
func functionGo(s string) string {
	if i := strings.LastIndexByte(s, '('); i > 0 {
		s = s[:i]
	}
	s = s[strings.LastIndexByte(s, '/')+1:]
	_, name, ok := strings.Cut(s, ".")
	if !ok {
		return strings.TrimSpace(s)
	}
	name = strings.NewReplacer("(*", "", "(", "", ")", "").Replace(name)
	if i := strings.Index(name, ".func"); i > 0 {
		name = name[:i]
	}
	return name
}

// foreignPath reports whether a frame's file belongs to a library or to the language itself.
func foreignPath(file string) bool {
	for _, part := range []string{"site-packages/", "dist-packages/", "node_modules/", "/usr/lib/", "lib/python", "<frozen", "<string>", "node:", "/go/pkg/mod/", "/usr/local/go/src/", "/.cargo/", "/rustc/", "/gems/", "internal/"} {
		if strings.Contains(file, part) {
			return true
		}
	}
	return false
}
