package runtime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// symptom is what a trace shows of a failure: what was said, where in the code, and what did not
// answer.
type symptom struct {
	// class is one of the classes below, "" if none is recognised.
	class string
	// frames are the places of the service's own code, the one that raised the error first.
	frames []frame
	// libraries are the other places, which belong to libraries.
	libraries []frame
	// said has the words of the messages and of the failing spans' attributes; quoted those of the
	// lines of code that the stack trace quotes, and used those of the statements and operations
	// that the failing operation sent to others.
	said, quoted, used map[string]bool
	// text is what was said.
	text string
	// peer is what the failing span called, as it names it; served reports whether the trace has
	// the span of whoever answered. aliases are further names of the peer.
	peer    string
	served  bool
	aliases []string
	// answered is the status with which the peer refused, 0 if it did not answer.
	answered uint32
}

// These are the classes of symptoms.
const (
	classRefused    = "refused"
	className       = "name"
	classTimeout    = "timeout"
	classBroken     = "broken"
	classFull       = "full"
	classPermission = "permission"
	classMissing    = "missing"
	classMemory     = "memory"
	classSchema     = "schema"
	classAnswered   = "answered"
	classSlow       = "slow"
)

// classes are tried in this order.
var classes = []struct {
	class string
	says  *lazyregexp.Regexp
}{
	{classRefused, lazyregexp.New(`(?i)econnrefused|connection ?refused|actively refused`)},
	{className, lazyregexp.New(`(?i)enotfound|eai_again|name or service not known|getaddrinfo|nodename nor servname|no such host|name ?resolution|unknownhost`)},
	{classFull, lazyregexp.New(`(?i)no space left|enospc|disk quota|edquot|disk is full`)},
	{classPermission, lazyregexp.New(`(?i)permission ?(?:denied|error)|eacces|eperm\b|operation not permitted|read-only file system|unable to open database`)},
	{classMemory, lazyregexp.New(`(?i)memoryerror|out of memory|outofmemory|enomem|cannot allocate memory|heap limit`)},
	{classMissing, lazyregexp.New(`(?i)enoent|no such file|filenotfound|cannot find module|file exists|not a directory|enotdir`)},
	{classSchema, lazyregexp.New(`(?i)no such (?:column|table)|unknown column|undefined ?(?:column|table)|(?:relation|column|table) \S+ does not exist|invalid (?:column|object) name|has no column`)},
	{classBroken, lazyregexp.New(`(?i)econnreset|connection reset|broken pipe|socket hang up|no route to host|ehostunreach|enetunreach|network is unreachable`)},
	{classTimeout, lazyregexp.New(`(?i)timed? ?out|timeout|deadline exceeded|aborterror`)},
}

// unreachable reports whether the symptom is that of something that does not answer.
func (s *symptom) unreachable() bool {
	return slices.Contains([]string{classRefused, className, classTimeout, classBroken}, s.class)
}

// maxOwn limits the frames of a service's own code that are examined.
const maxOwn = 40

const exceptionEvent = "exception"

// symptomOf reads the failing spans of the service of all[at], the deepest first.
func symptomOf(all []span, at int) *symptom {
	s := &symptom{said: map[string]bool{}, quoted: map[string]bool{}}
	order := []int{at}
	for i := all[at].up; i >= 0; i = all[i].up {
		if all[i].service == all[at].service {
			order = append(order, i)
		}
	}
	for i := range all { // and what failed beside it in the same service
		if all[i].service == all[at].service && !slices.Contains(order, i) && len(framesIn(&all[i])) > 0 {
			order = append(order, i)
		}
	}
	var texts []string
	for _, i := range order {
		x := &all[i]
		texts = append(texts, x.raw.GetStatus().GetMessage())
		for _, e := range x.raw.GetEvents() {
			if e.Name != exceptionEvent {
				continue
			}
			for _, kv := range e.GetAttributes() {
				switch kv.Key {
				case "exception.type", "exception.message":
					texts = append(texts, textOf(kv.Value, 0))
				}
			}
		}
		if s.frames == nil && s.libraries == nil {
			for _, f := range framesIn(x) {
				if foreignPath(f.file) {
					s.libraries = append(s.libraries, f)
					continue
				}
				if len(s.frames) == maxOwn {
					break
				}
				s.frames = append(s.frames, f)
				addWords(s.quoted, f.source)
			}
		}
	}
	attrs := []string{}
	for _, kv := range all[at].raw.GetAttributes() {
		attrs = append(attrs, textOf(kv.Value, 0))
	}
	s.text = strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n")
	addWords(s.said, s.text)
	for _, c := range classes {
		if c.says.MatchString(s.text) {
			s.class = c.class
			break
		}
	}
	s.findPeer(all, at)
	s.text += "\n" + strings.Join(attrs, "\n")
	for _, t := range attrs {
		addWords(s.said, t)
	}
	return s
}

// framesIn returns the frames of a span's exceptions.
func framesIn(x *span) (all []frame) {
	for _, e := range x.raw.GetEvents() {
		if e.Name == exceptionEvent {
			for _, kv := range e.GetAttributes() {
				if kv.Key == "exception.stacktrace" && len(all) == 0 {
					all = framesOf(textOf(kv.Value, 0))
				}
			}
		}
	}
	return all
}

// findPeer finds what the failing span called without success.
func (s *symptom) findPeer(all []span, at int) {
	x := &all[at]
	if x.seen.Side != recountv1.Side_SIDE_CALLER {
		return
	}
	s.peer = x.seen.Peer
	s.served = slices.ContainsFunc(x.below, func(i int) bool { return all[i].service != x.service })
	if code := x.seen.GetCode(); code >= 400 && x.seen.System == "http" {
		s.answered = code
		if s.class == "" {
			s.class = classAnswered
		}
	}
	host, port, _ := strings.Cut(s.peer, ":")
	label, _, _ := strings.Cut(host, ".")
	for _, name := range append([]string{host, label, x.seen.System}, products[x.seen.System]...) {
		if name != "" && name != "http" && !slices.Contains(s.aliases, name) && strings.Trim(name, "0123456789.") != "" {
			s.aliases = append(s.aliases, name)
		}
	}
	if len(port) >= 4 {
		s.aliases = append(s.aliases, port)
	}
}

// products are the names by which people call a database's product.
var products = map[string][]string{
	"postgresql": {"postgres", "pg", "db", "database"},
	"mysql":      {"mariadb", "db", "database"},
	"mongodb":    {"mongo", "db", "database"},
	"redis":      {"valkey", "cache"},
}

// describe says what the peer did.
func (s *symptom) describe() string {
	switch {
	case s.class == classRefused:
		return "it refuses connections"
	case s.class == className:
		return "its name does not resolve"
	case s.class == classTimeout:
		return "it did not answer in time"
	case s.class == classSlow:
		return "it took longer than usual"
	case s.answered > 0:
		return fmt.Sprintf("it answered %d", s.answered)
	}
	return "the connection broke"
}

var wordsIn = lazyregexp.New(`_*[A-Za-z][A-Za-z0-9_]*|\d[\d_]*\d`)

// dull are words that many failures and changes have in common.
var dull = func() map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(`the and for not with from that this are was has have can cannot could none null undefined true false
		error errors exception failed failure fail type value key index object string number int str list dict self return def func function const let var new
		http https get post put delete url port host name path file line code status server client request response message data get_ does exist exists relation column table database query out missing invalid unknown expected read write found local native
		app index main src src/ config settings json yaml import require err res req next call calls object's property properties read reading of type's
		connect connection timeout localhost internal bad gateway exit such directory module unexpected argument arguments operand operator unsupported
		sudo docker compose kubectl deployment systemctl restart edit sed git commit up build srv opt usr bin lib home root set echo 127 tcp net inet
		select insert update where tmp python node api flask express instrumentation dispatch open close max retries exceeded pool object at`) {
		all[w] = true
	}
	return all
}()

// addWords adds the identifiers and numbers of a text in lower case: those with several parts also
// by each part.
func addWords(to map[string]bool, text string) {
	for _, w := range wordsIn.FindAllString(text, -1) {
		for _, p := range append(parts(w), w) {
			if p = strings.ToLower(p); len(p) >= 3 && !dull[p] || len(p) == 2 && p[0] >= '0' && p[0] <= '9' {
				to[p] = true
			}
		}
	}
}

// parts splits an identifier at its underscores and capitals.
func parts(w string) []string {
	spaced := make([]byte, 0, len(w)+4)
	for i := 0; i < len(w); i++ {
		if c := w[i]; c == '_' {
			spaced = append(spaced, ' ')
			continue
		} else if c >= 'A' && c <= 'Z' && i > 0 && w[i-1] >= 'a' && w[i-1] <= 'z' {
			spaced = append(spaced, ' ')
		}
		spaced = append(spaced, w[i])
	}
	return strings.Fields(string(spaced))
}
