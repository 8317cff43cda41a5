package agent

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/schemas/wordset"
)

// These rules read a claim from a text that is one short sentence. A value is comparable if it is
// one word that contains a digit, a dot, a slash or the like, a word in quotes, or a switch (on,
// off, enabled). "The cache is slow" and "the cache is shared" may both hold; "the port is 5432"
// and "the port is 5433" may not.
const (
	ruleIs     = "text_is"     // The port of the database is 5432.
	ruleEquals = "text_equals" // GOFLAGS = -trimpath
	ruleColon  = "text_colon"  // database port: 5432
)

const (
	maxClaim = 200
	// maxSubject is the maximum length of a subject in words.
	maxSubject = 8
	// readConfidence is the confidence of a claim that a rule found.
	readConfidence = 0.6
)

// stated returns the claim that a memory states, nil if it has no subject or no predicate.
func stated(s *recountv1.Statement) *recountv1.Claim {
	if fold(s.GetSubject()) == "" || fold(s.GetPredicate()) == "" {
		return nil
	}
	c := &recountv1.Claim{Subject: fold(s.Subject), Predicate: fold(s.Predicate), Value: s.Value, Confidence: 1, Rule: ruleStated}
	if s.Confidence != nil {
		c.Confidence = s.GetConfidence()
	}
	return c
}

// readClaim returns the claim of a text that is one short sentence with a comparable value, or nil.
func readClaim(text string) *recountv1.Claim {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxClaim || strings.ContainsAny(text, "\n?!") || strings.Contains(text, ". ") {
		return nil
	}
	for _, r := range []struct{ rule, between, predicate string }{
		{ruleEquals, " = ", "="}, {ruleColon, ": ", "is"}, {ruleIs, " is ", "is"},
	} {
		subject, value, ok := strings.Cut(text, r.between)
		if !ok {
			continue
		}
		if strings.Contains(value, r.between) {
			return nil
		}
		if r.rule != ruleEquals {
			value = strings.TrimSuffix(value, ".")
		}
		value = strings.TrimSpace(value)
		subject = claimSubject(subject)
		if subject == "" || !canBeCompared(value) {
			return nil
		}
		return &recountv1.Claim{Subject: subject, Predicate: r.predicate, Value: unquote(value), Confidence: readConfidence, Rule: r.rule}
	}
	return nil
}

// claimSubject returns the folded subject without its article. It is empty if the subject has no
// meaning by itself, such as "it", or is a condition.
func claimSubject(s string) string {
	if strings.Contains(s, "://") {
		return ""
	}
	words := strings.Fields(fold(s))
	if len(words) > 0 && (words[0] == "the" || words[0] == "our" || words[0] == "a" || words[0] == "an") {
		words = words[1:]
	}
	if len(words) == 0 || len(words) > maxSubject {
		return ""
	}
	for i, w := range words {
		if pronouns[w] || i == 0 && openers[w] || strings.HasSuffix(w, ",") || strings.HasSuffix(w, ":") {
			return ""
		}
	}
	return strings.Join(words, " ")
}

var (
	pronouns = wordset.Of(`it this that these those there here he she they we i you who what which where when how why one something
		nothing everything and or but is are was were if unless because not maybe perhaps probably think thinks said says`)
	openers = wordset.Of(`todo note warning error fatal hint info debug tip example e.g. i.e. when after before since while until once
		traceback exception question answer update result output step http https`)
)

// canBeCompared reports whether a value excludes other values.
func canBeCompared(v string) bool {
	if len(v) >= 2 && (v[0] == '"' || v[0] == '\'' || v[0] == '`') && v[len(v)-1] == v[0] {
		return !strings.ContainsRune(v[1:len(v)-1], rune(v[0])) && len(v) > 2
	}
	if v == "" || strings.ContainsAny(v, " \t") {
		return false
	}
	switch strings.ToLower(v) {
	case "true", "false", "on", "off", "yes", "no", "enabled", "disabled", "none", "null":
		return true
	}
	return strings.ContainsAny(v, "0123456789/._@:") && strings.ContainsFunc(v, func(r rune) bool { return r < 0x80 && isAlnum(byte(r)) })
}

func unquote(v string) string {
	if len(v) >= 2 && (v[0] == '"' || v[0] == '\'' || v[0] == '`') && v[len(v)-1] == v[0] {
		return v[1 : len(v)-1]
	}
	return v
}
