package recall

import (
	"strings"
	"unicode"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/query/errorline"
	"github.com/recountdb/recount/schemas/clip"
)

// mark is a line of an output that tells a failure from others.
type mark struct {
	line   string // with what differs between runs removed
	shown  string // as printed
	weight float64
}

const (
	// maxMarks is how many marks of an output count, maxLines how many of its lines are read: as
	// many from its end.
	maxMarks = 12
	maxLines = 600
	// maxMarkBytes is the maximum length of a mark.
	maxMarkBytes = 240
)

var (
	// escapes matches sequences that control terminals.
	escapes = lazyregexp.New("\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])|\u009b[0-9;?]*[ -/]*[@-~]")
	// hollow matches lines that only report that something failed, or nothing.
	hollow = lazyregexp.New(`^(?i:(exit status \d+|exit code:? \d+|error: exit code \d+|fail(ed|ure)?:?|fail\s+\S+(\s+[(\[\d].*)?|error:?|traceback \(most recent call last\):|error: (aborting|could not compile).*|\d+ (errors?|failed|failures?)\b.*|=+ .* =+|done( .*)?|ok|#+ .*|\[\w+\] ERROR task failed.*|total .*|usage:.*|hint: .*|the user doesn't want to proceed.*|\[request interrupted.*|to tell you how to proceed.*|<?/?(tool_use_error|error)>?|\$ .*|error: script .* exited with code \d+|checked \d+ files .*|× some (errors|warnings) were emitted.*|.*sibling tool call errored.*))\.?$`)
	// relays matches lines of programs that run others, which report little but that one failed. relayed matches those that
	// name something all the same: in quotes, or with its version.
	relays  = lazyregexp.New(`^(?i:make(\[\d+\])?: \*\*\*|npm (err!|error)( |$))`)
	relayed = lazyregexp.New(`["'` + "`" + `„“‘’«»][^"'` + "`" + `„“”‘’«»]+["'` + "`" + `“”‘’«»]|\w@["^~]*\d`)
	// told matches what stands before the message of a compiler: the file and the line.
	told     = lazyregexp.New(`^[^\s:(]+\.\w+[:(]#([:.,]#)?\)?: `)
	hexRun   = lazyregexp.New(`\b(0[xX][0-9a-fA-F]+|[0-9a-fA-F]{7,64})\b|\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{22}\b`)
	pathHead = lazyregexp.New(`(^|[\s("'=\[` + "`" + `])(?:[A-Za-z]:\\|~|\.{0,2})?/?(?:[\w.@+-]+/)+`)
	digits   = lazyregexp.New(`\d+([.:,]\d+)*(ns|us|µs|ms|s|m|h)?\b`)
)

// complaints are the words that mark a line as an error message.
var complaints = errorline.Parse(`err errno errors fail failed fails failure failures fatal panic traceback undefined undeclared unresolved cannot can't couldn't unable
	unknown unexpected unrecognized invalid illegal missing denied refused rejected forbidden unauthorized no not doesn't didn't timeout timed unreachable
	conflict conflicts aborted killed segmentation mismatch expected redeclared unused outside blocked want must always already could`, "assert")

// marksOf returns the marks of an output, the most telling ones if there are many, in their order.
func marksOf(output string) []mark {
	if strings.Contains(output, "\x1b") {
		output = escapes.ReplaceAllString(output, "")
	}
	var all []mark
	seen := map[string]bool{}
	for n := 0; output != "" && n < maxLines; n++ {
		i := strings.LastIndexAny(output, "\n\r")
		line := strings.TrimSpace(output[i+1:])
		output = output[:max(i, 0)]
		if len(line) < 6 || !complaints.In(line) && !foreign(line) || isRelayed(line) || strings.Contains(line, " INFO ") || strings.Contains(line, " WARN ") || hollow.MatchString(clip.Head(line, 200)) {
			continue
		}
		m := mark{line: specific(line), shown: line}
		m.weight = weightOf(m.line)
		// A name that is missing tells more than the file that misses it.
		if rest := told.ReplaceAllString(m.line, ""); rest != m.line && len(namesIn(rest)) > 0 {
			m.line = rest
		}
		if m.weight == 0 || seen[m.line] {
			continue
		}
		seen[m.line] = true
		if all = append(all, m); len(all) == maxMarks {
			break
		}
	}
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// isRelayed reports whether a line only relays that something failed.
func isRelayed(line string) bool {
	return relays.MatchString(line) && (strings.Contains(line, "*** [") || strings.HasSuffix(line, ":") || !relayed.MatchString(line))
}

// specific removes from a line what differs between runs of the same failure: numbers, hashes,
// directories. Names stay.
func specific(line string) string {
	if len(line) > 4*maxMarkBytes {
		line = strings.ToValidUTF8(line[:4*maxMarkBytes], "")
	}
	if strings.ContainsAny(line, "/") {
		line = pathHead.ReplaceAllString(line, "$1")
	}
	if strings.ContainsAny(line, "0123456789") {
		line = hexRun.ReplaceAllStringFunc(line, func(s string) string {
			if strings.ContainsAny(s, "0123456789") {
				return "#"
			}
			return s
		})
		line = digits.ReplaceAllString(line, "#")
	}
	line = strings.Join(strings.Fields(line), " ")
	if len(line) > maxMarkBytes {
		line = strings.ToValidUTF8(line[:maxMarkBytes], "")
	}
	return line
}

// maxWeight is the weight of the most telling line.
const maxWeight = 6

// weightOf returns how telling a mark is: how many words it has that are not common in errors, up
// to maxWeight.
func weightOf(line string) float64 {
	n := 0
	for w := range wordsIn(line) {
		if !vague[w] {
			n++
		}
	}
	return float64(min(n, maxWeight))
}

// wordsIn returns the words of three letters or more in a line, in lower case.
func wordsIn(line string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) && r != '_' }) {
		if len(w) >= 3 {
			all[w] = true
		}
	}
	return all
}

// vague are words that say little about a failure.
var vague = map[string]bool{
	"error": true, "errors": true, "fail": true, "failed": true, "failure": true, "fatal": true, "the": true, "and": true, "for": true, "not": true, "with": true,
	"exit": true, "status": true, "code": true, "line": true, "file": true, "test": true, "tests": true, "from": true, "that": true, "this": true, "was": true,
	"has": true, "have": true, "but": true, "got": true, "want": true, "expected": true, "exception": true, "traceback": true, "recent": true, "call": true, "last": true,
	"most": true, "usage": true, "help": true, "see": true, "are": true, "run": true, "command": true,
}

// alike returns how much of what tells a failure another one has, 0 to 1, and the marks of the other
// that are in common.
func alike(a, b []mark) (float64, []mark) {
	var sumA, sumB, both float64
	var common []mark
	in := make(map[string]mark, len(b))
	for _, m := range b {
		sumB += m.weight
		in[m.line] = m
	}
	for _, m := range a {
		sumA += m.weight
		if theirs, ok := in[m.line]; ok {
			both += m.weight
			common = append(common, theirs)
		}
	}
	if both == 0 {
		return 0, nil
	}
	// The mean of both shares: one line in common of many is little, and an output is often cut.
	x, y := both/sumA, both/sumB
	return float64(max(x, y)+min(x, y)) / 2, common
}
