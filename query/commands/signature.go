package commands

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/recountdb/recount/query/errorline"
	"github.com/recountdb/recount/schemas"
)

// maxSignature is the maximum length of a signature, in bytes.
const maxSignature = 160

// maxTail is the length of the end of an output that is examined, in bytes.
const maxTail = 4096

const hashPlace = "<hash>"

// complaints are the words that mark a line as an error message.
var complaints = errorline.Parse(`error errors err fail failed failure failures fatal panic traceback undefined undeclared
		unresolved cannot can't couldn't unable unknown unexpected unrecognized invalid illegal missing denied refused rejected
		forbidden unauthorized no not doesn't timed timeout unreachable conflict aborted killed segmentation usage`, "")

// compiled returns a regular expression that is compiled when it is first used: most programs that
// link this package never do.
func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	// ansi matches the terminal sequences for colours and titles.
	ansi = compiled("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")
	// echo matches lines in which a program only reports that another one failed.
	echo = compiled(`^(?i:(make(\[\d+\])?: \*\*\*.*|exit status \d+|exit code:? \d+|fail(ed)?([ \t].*)?|error: (aborting|could not compile).*|error: process completed.*|npm (err!|error)( .*)?|error command failed.*|\d+ (errors?|failed|failures?)\b.*|=+ .* =+|ok|done)\.?)$`)
	// values match what differs between runs, each with its placeholder. If characters are
	// listed, a line must have one of them to match.
	values = []struct {
		of    func() *regexp.Regexp
		place string
		any   string
	}{
		{compiled(`[a-zA-Z][a-zA-Z0-9+.-]{1,15}://[^\s'"` + "`" + `<>)]+`), "<url>", ":"},
		{compiled("\"[^\"]*\"|`[^`]*`|‘[^’]*’|“[^”]*”"), "<str>", "\"`‘“"},
		{compiled(`(^|[\s(\[=:,])'[^']*'`), "$1<str>", "'"},
		{compiled(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "<uuid>", "-"},
		{compiled(`\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?`), "<date>", ":-"},
		{compiled(`\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d+)?|\blocalhost:\d+`), "<host>", ".:"},
		{compiled(`(^|[\s(\[=:,])(?:~|\.{0,2})/[^\s:,;'")\]]*|(^|[\s(\[=:,])[\w.@+-]+(?:/[\w.@+-]+)+/?|(^|[\s(\[=:,])[\w@+-]+\.(?:go|py|rs|js|ts|tsx|jsx|c|h|cc|cpp|hpp|java|kt|rb|php|sh|sql|ya?ml|json|toml|txt|md|cfg|ini|lock|log|html|css|xml|tf|proto)\b`), "$1$2$3<path>", "/."},
		{compiled(`<path>(?::\d+)+`), "<path>", ">"},
		{compiled(`\b0[xX][0-9a-fA-F]+\b|\b[0-9a-f]{7,64}\b`), hashPlace, "0123456789"},
		{compiled(`[-+]?\b\d+(?:[.,]\d+)*(?:ns|us|µs|ms|s|m|h|[kKMGT]i?B?|%)?\b%?`), "<num>", "0123456789"},
		// The name that an error message is about: "undefined: parseFlags".
		{compiled(`(?i)\b(undefined|undeclared name|undeclared identifier|unknown (?:command|flag|option|field|shorthand flag|revision)|unrecognized (?:command|option|arguments?)|no required module provides package|could not resolve host|unable to locate package|package)(:?) +[\w.@/-]+`), "$1$2 <arg>", ""},
	}
)

// signature returns what outputs of the same failure have in common: the line with the error
// message, with its values replaced as in a template. That is the last line with a word of
// complaints that does not only report another program's failure, or else the last line
// that is not empty. It is empty for an empty output.
func signature(tail string) string {
	if tail == "" {
		return ""
	}
	if cut := len(tail) - maxTail; cut > 0 {
		for cut < len(tail) && !utf8.RuneStart(tail[cut]) {
			cut++
		}
		tail = tail[cut:]
	}
	if strings.Contains(tail, "\x1b") {
		tail = ansi().ReplaceAllString(tail, "")
	}
	last, second := "", ""
	for rest := tail; rest != ""; {
		i := strings.LastIndexAny(rest, "\n\r")
		line := strings.TrimSpace(rest[i+1:])
		rest = rest[:max(i, 0)]
		if line == "" {
			continue
		}
		if last == "" {
			last = line
		}
		if !complaints.In(line) {
			continue
		}
		if !echo().MatchString(line) {
			return generalise(line)
		}
		if second == "" {
			second = line
		}
	}
	if second != "" {
		return generalise(second)
	}
	return generalise(last)
}

// generalise replaces the values in a line.
func generalise(line string) string {
	line = schemas.Clip(line, 4*maxSignature)
	for _, v := range values {
		if v.any != "" && !strings.ContainsAny(line, v.any) {
			continue
		}
		if v.place != hashPlace {
			line = v.of().ReplaceAllString(line, v.place)
			continue
		}
		line = v.of().ReplaceAllStringFunc(line, func(s string) string {
			if strings.ContainsAny(s, "0123456789") && strings.ContainsAny(s, "abcdefxABCDEFX") {
				return hashPlace
			}
			return s // a word, or a number
		})
	}
	return schemas.Clip(strings.Join(strings.Fields(line), " "), maxSignature)
}
