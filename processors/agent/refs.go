package agent

import (
	"path"
	"strings"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/wordset"
)

// These rules find what a text mentions. They prefer to miss a reference rather than to guess:
//
//	text_commit   40 hex digits, or 7 to 39 after a word such as "commit" or "revision"
//	text_trace    32 hex digits after "trace", or a W3C traceparent
//	text_issue    owner/repo#12; if the workspace is a repository also #12 after a word such as "fixes", and "issue 12"
//	text_url      http:// and https://; of GitHub and GitLab also the commit or issue (text_commit, text_issue)
//	text_path     a path with a slash and an extension
//	text_file     a name with the extension of source, configuration or text
//	text_symbol   `a.dotted.name`, `pkg::name` or `name()`, in backticks
//
// Non-ASCII letters end a token, so that a path is found between Chinese words as well.
const (
	ruleCommit = "text_commit"
	ruleTrace  = "text_trace"
	ruleIssue  = "text_issue"
	ruleURL    = "text_url"
	rulePath   = "text_path"
	ruleFile   = "text_file"
	ruleSymbol = "text_symbol"
)

const (
	maxToken = 512
	maxURL   = 2048
	// maxTextEdges limits the edges of an event to things that its texts mention, to the first
	// ones. maxMentions limits the search if the same things are mentioned again and again.
	maxTextEdges = 64
	maxMentions  = 1024
)

// reference is one thing that a text mentions.
type reference struct {
	entity     string
	confidence float32
	rule       string
}

// references adds edges to what the texts mention.
func (b *maker) references() {
	left, mentions := maxTextEdges, maxMentions
	r := reader{repository: schemas.RepositoryOf(b.m.Workspace, b.m.Attributes["repository"]), found: func(ref reference) bool {
		mentions--
		if b.entity(refersTo, ref.entity, ref.confidence, ref.rule) {
			left--
		}
		return left > 0 && mentions > 0
	}}
	for _, text := range b.read {
		if !r.text(text) {
			return
		}
	}
}

// reader finds what a text mentions, in one pass.
type reader struct {
	repository string
	// found is called with each reference; if it returns false, reading ends.
	found func(reference) bool
	// last holds the two words before the current one.
	last [2]string
}

// These are the classes of a byte in a token.
const (
	inHex = 1 << iota
	inDigit
	inLetter
	inDot
	inSlash
	inHash
	inRest    // _ - + ~ @
	inStrange // never part of a path or of a name that we recognise: * $ % & ! ? ^ \
	inToken
)

var classes = func() (t [256]uint16) {
	for c := range 256 {
		switch {
		case c >= '0' && c <= '9':
			t[c] = inHex | inDigit | inToken
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
			t[c] = inHex | inLetter | inToken
		case c >= 'g' && c <= 'z' || c >= 'G' && c <= 'Z':
			t[c] = inLetter | inToken
		case strings.IndexByte("_-+~@", byte(c)) >= 0:
			t[c] = inRest | inToken
		case strings.IndexByte(`*$%&!?^\`, byte(c)) >= 0:
			t[c] = inStrange | inToken
		}
	}
	t['.'], t['/'], t['#'] = inDot|inToken, inSlash|inToken, inHash|inToken
	return t
}()

func isAlnum(c byte) bool { return classes[c]&(inDigit|inLetter) != 0 }

// text reads one text. It returns false if found ended the search.
func (r *reader) text(s string) bool {
	r.last = [2]string{}
	for i := 0; i < len(s); {
		c := s[i]
		if c == '`' {
			if n := strings.IndexByte(s[i+1:min(len(s), i+1+maxToken)], '`'); n > 0 {
				if name, ok := symbol(s[i+1 : i+1+n]); ok {
					if !r.found(reference{"symbol:" + name, 0.7, ruleSymbol}) {
						return false
					}
					i += n + 2
					continue
				}
			}
		}
		flags := classes[c]
		if flags == 0 {
			i++
			continue
		}
		if c == 'h' && (strings.HasPrefix(s[i:], "https://") || strings.HasPrefix(s[i:], "http://")) {
			end := urlEnd(s, i)
			if !r.url(s[i:end]) {
				return false
			}
			i = end
			continue
		}
		from, all := i, flags
		for i++; i < len(s) && classes[s[i]] != 0; i++ {
			flags |= classes[s[i]]
			all &= classes[s[i]]
		}
		token := s[from:i]
		if len(token) <= maxToken && flags&(inDot|inSlash|inHash|inDigit|inStrange) != 0 {
			called := i < len(s) && s[i] == '('
			if !r.token(strings.TrimRight(token, ".!?"), all, flags, called) {
				return false
			}
		}
		r.last[0], r.last[1] = r.last[1], token
	}
	return true
}

// token examines one word. all has the classes that every byte has, any those that at least one
// byte has.
func (r *reader) token(t string, all, any uint16, called bool) bool {
	switch {
	case r.repository != "" && schemas.IsIssueNumber(t) && r.numbered():
		return r.found(reference{"issue:" + r.repository + "#" + t, 0.7, ruleIssue})
	case len(t) < 2:
		return true
	case any&inHash != 0:
		return r.issue(t)
	case any&inStrange != 0:
		return true
	case all&inHex != 0 || len(t) >= 7 && isHex(t):
		return r.hash(t)
	case len(t) == 55 && t[2] == '-' && isTraceparent(t):
		return r.found(reference{"trace:" + strings.ToLower(t[3:35]), 0.9, ruleTrace})
	case any&inDot != 0 && any&inLetter != 0:
		return r.file(t, called)
	}
	return true
}

func isHex(t string) bool {
	for i := range len(t) {
		if classes[t[i]]&inHex == 0 {
			return false
		}
	}
	return len(t) > 0
}

func isTraceparent(t string) bool {
	return t[35] == '-' && t[52] == '-' && isHex(t[:2]) && isHex(t[3:35]) && isHex(t[36:52]) && isHex(t[53:]) && !zeros(t[3:35])
}

func zeros(t string) bool { return strings.Trim(t, "0") == "" }

// hash examines hex digits by their number and by the words before them.
func (r *reader) hash(t string) bool {
	mixed := strings.ContainsAny(t, "0123456789") && strings.Trim(t, "0123456789") != ""
	n := len(t)
	switch {
	case n == 32 && mixed && r.after("trace", "traceid", "traces"):
		return r.found(reference{"trace:" + strings.ToLower(t), 0.9, ruleTrace})
	case n == 40 && mixed:
		confidence := float32(0.7)
		if r.after(commitWords...) {
			confidence = 0.95
		}
		return r.found(reference{"commit:" + strings.ToLower(t), confidence, ruleCommit})
	case n >= 7 && n < 40 && mixed && r.after(commitWords...):
		return r.found(reference{"commit:" + strings.ToLower(t), 0.8, ruleCommit})
	}
	return true
}

var commitWords = []string{
	"commit", "commits", "sha", "sha1", "revision", "rev", "changeset", "revert", "reverts", "reverted", "checkout", "cherrypick", "bisect",
}

var issueWords = []string{
	"issue", "issues", "bug", "ticket", "pr", "prs", "request", "fix", "fixes", "fixed", "close", "closes", "closed",
	"resolve", "resolves", "resolved", "refs", "ref", "see",
}

// numbered reports whether the word before is one that precedes issue numbers.
func (r *reader) numbered() bool {
	switch strings.ToLower(r.last[1]) {
	case "issue", "issues", "ticket", "pr":
		return true
	case "request":
		return strings.EqualFold(r.last[0], "pull") || strings.EqualFold(r.last[0], "merge")
	}
	return false
}

// after reports whether one of the two words before is one of the given words, punctuation ignored:
// trace_id is traceid.
func (r *reader) after(words ...string) bool {
	for _, last := range r.last {
		if len(last) > 24 {
			continue
		}
		var b [24]byte
		n := 0
		for i := range len(last) {
			if isAlnum(last[i]) {
				b[n] = last[i] | 0x20
				if classes[last[i]]&inDigit != 0 {
					b[n] = last[i]
				}
				n++
			}
		}
		for _, w := range words {
			if string(b[:n]) == w {
				return true
			}
		}
	}
	return false
}

// issue examines a word with a # in it.
func (r *reader) issue(t string) bool {
	repo, number, _ := strings.Cut(t, "#")
	if !schemas.IsIssueNumber(number) {
		return true
	}
	switch owner, name, ok := strings.Cut(repo, "/"); {
	case ok && schemas.IsRepoPart(owner) && schemas.IsRepoPart(name):
		return r.found(reference{"issue:" + t, 0.9, ruleIssue})
	case repo == "" && r.repository != "" && r.after(issueWords...):
		return r.found(reference{"issue:" + r.repository + "#" + number, 0.8, ruleIssue})
	}
	return true
}

// urlEnd returns the end of a URL that begins at i.
func urlEnd(s string, i int) int {
	end := i
	for end < len(s) && s[end] > ' ' && s[end] < 0x7F && strings.IndexByte("<>\"`'{}|\\^", s[end]) < 0 {
		end++
	}
	for end > i && strings.IndexByte(".,;:!?*_]", s[end-1]) >= 0 {
		end--
	}
	open := strings.Count(s[i:end], "(") - strings.Count(s[i:end], ")")
	for ; open < 0 && s[end-1] == ')'; open++ {
		end--
	}
	return end
}

// url examines a URL.
func (r *reader) url(u string) bool {
	_, rest, _ := strings.Cut(u, "://")
	if len(u) > maxURL || rest == "" || !isAlnum(rest[0]) && rest[0] != '[' {
		return true
	}
	if issue, ok := schemas.IssueOf(u); ok && !r.found(reference{"issue:" + issue, 0.95, ruleIssue}) {
		return false
	}
	if _, kind, what, ok := schemas.ForgeURL(u); ok && kind == "commit" && len(what) >= 7 && len(what) <= 40 && isHex(what) &&
		!r.found(reference{"commit:" + strings.ToLower(what), 0.95, ruleCommit}) {
		return false
	}
	return r.found(reference{"url:" + u, 0.95, ruleURL})
}

// symbol returns the name in backticks if it is a name in code: identifiers joined by dots or
// colons, or followed by ().
func symbol(s string) (string, bool) {
	name, called := strings.CutSuffix(s, "()")
	if len(name) < 3 || len(name) > 256 {
		return "", false
	}
	parts := strings.FieldsFunc(strings.ReplaceAll(name, "::", "."), func(r rune) bool { return r == '.' })
	if strings.Count(strings.ReplaceAll(name, "::", "."), ".") != len(parts)-1 {
		return "", false // an empty part
	}
	for _, p := range parts {
		for i := range len(p) {
			c := p[i]
			if !(classes[c]&inLetter != 0 || c == '_' || c == '$' || i > 0 && classes[c]&inDigit != 0) {
				return "", false
			}
		}
	}
	switch {
	case len(parts) == 1 && !called:
		return "", false
	case !called && !strings.Contains(name, "::") && extensions[strings.ToLower(parts[len(parts)-1])]:
		return "", false // a file
	}
	return name, true
}

// file examines a word with a dot in it; called means that a parenthesis follows.
func (r *reader) file(t string, called bool) bool {
	// The two sides of a diff are below a/ and b/.
	if side := r.last[1]; (side == "---" || side == "+++" || side == "--git" || r.last[0] == "--git") && (strings.HasPrefix(t, "a/") || strings.HasPrefix(t, "b/")) {
		t = t[2:]
	}
	base := t[strings.LastIndexByte(t, '/')+1:]
	at := strings.LastIndexByte(base, '.')
	if at <= 0 || strings.Contains(t, "//") {
		return true
	}
	name, ext := base[:at], strings.ToLower(base[at+1:])
	if !isExtension(ext) || !strings.ContainsFunc(name, func(r rune) bool { return r < 0x80 && isAlnum(byte(r)) }) {
		return true
	}
	known := extensions[ext]
	if base != t {
		first, _, _ := strings.Cut(t, "/")
		rooted := first == "" || first == "." || first == ".." || first == "~"
		switch {
		case strings.Contains(first, ".") && !rooted && hostLike(first):
		case known:
			return r.found(reference{"file:" + cleanPath(t), 0.8, rulePath})
		case rooted || strings.Count(t, "/") >= 2:
			return r.found(reference{"file:" + cleanPath(t), 0.6, rulePath})
		}
		return true
	}
	if !known || called || products[strings.ToLower(base)] || len(ext) == 1 && (len(name) < 3 || name == "self" || name == "this") ||
		classes[base[0]]&(inRest|inDot) != 0 && base[0] != '_' {
		return true
	}
	return r.found(reference{"file:" + t, 0.6, ruleFile})
}

func isExtension(ext string) bool {
	if len(ext) == 0 || len(ext) > 10 {
		return false
	}
	letters := false
	for i := range len(ext) {
		if !isAlnum(ext[i]) {
			return false
		}
		letters = letters || classes[ext[i]]&inLetter != 0
	}
	return letters
}

// hostLike reports whether the first part of a path is a host name, not a directory.
func hostLike(s string) bool {
	switch s[strings.LastIndexByte(s, '.')+1:] {
	case "com", "org", "net", "io", "dev", "ai", "co", "uk", "de", "fr", "eu", "edu", "gov", "app", "me", "land", "example", "local":
		return true
	}
	return false
}

// extensions are those of files that people mention without a directory.
var extensions = wordset.Of(`go py rs js jsx ts tsx mjs cjs java kt kts scala c h cc cpp cxx hpp hh cs rb php pl pm lua swift m mm r jl
	ex exs erl hs ml mli clj cljs dart zig nim sh bash zsh fish ps1 bat sql proto graphql thrift tf tfvars hcl
	md rst txt adoc json jsonl ndjson yaml yml toml ini cfg conf env lock sum mod xml html htm css scss sass less csv tsv parquet
	log patch diff ipynb gradle cmake mk vue svelte pony traj pem crt key pdf png jpg jpeg svg zip gz tgz xz zst tar whl jar`)

// products are names that look like file names.
var products = wordset.Of(`node.js next.js vue.js nuxt.js react.js three.js d3.js express.js ember.js angular.js backbone.js chart.js
	require.js moment.js discord.js p5.js asp.net batch.sh`)

// cleanPath returns a path without "./" and doubled slashes. A relative path stays relative.
func cleanPath(p string) string {
	if p == "" {
		return p
	}
	return path.Clean(p)
}

// canonicalRef returns the entity for a Relation's ref: as written, except that a commit or a trace
// is in lower case and a path is clean. A ref without a kind gets the one that its form suggests,
// if any.
func canonicalRef(ref string) string {
	kind, name, ok := strings.Cut(ref, ":")
	switch {
	case ok && (kind == "commit" || kind == "trace"):
		return kind + ":" + strings.ToLower(strings.TrimSpace(name))
	case ok && kind == "file":
		return kind + ":" + cleanPath(strings.TrimSpace(name))
	case ok && kind != "http" && kind != "https":
		return ref
	}
	seen := ""
	r := reader{found: func(found reference) bool { seen = found.entity; return false }}
	if !strings.ContainsAny(ref, " \t\n") {
		r.text(ref)
	}
	if seen != "" {
		return seen
	}
	return ref
}
