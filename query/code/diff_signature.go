package code

import "strings"

// SignatureDifference is what two signatures do not share.
type SignatureDifference struct {
	Before string `json:"before" example:"… , timeout int)" doc:"The part of the previous signature that the new one lacks, with a few words around it. … stands for what both have."`
	After  string `json:"after" example:"… , timeout time.Duration, retries int)" doc:"The part of the new signature that the previous one lacks, likewise."`
}

const (
	// wholeSignature is up to which length signatures are shown whole.
	wholeSignature = 100
	// aroundDifference is how many tokens of what both have are shown on each side.
	aroundDifference = 4
)

// signatureDifference returns the difference of two signatures, nil if there is none.
func signatureDifference(before, after string) *SignatureDifference {
	if before == after || before == "" || after == "" {
		return nil
	}
	if len(before) <= wholeSignature && len(after) <= wholeSignature {
		return &SignatureDifference{before, after}
	}
	was, is := spacedTokens(before), spacedTokens(after)
	first := 0
	for first < min(len(was), len(is)) && was[first] == is[first] {
		first++
	}
	last := 0
	for last < min(len(was), len(is))-first && was[len(was)-1-last] == is[len(is)-1-last] {
		last++
	}
	return &SignatureDifference{between(was, first, last), between(is, first, last)}
}

// spacedTokens returns the tokens of a signature, each with the white space before it.
func spacedTokens(s string) (all []string) {
	at := 0
	for token := range sourceTokens(s) {
		end := at + strings.Index(s[at:], token) + len(token)
		all = append(all, s[at:end])
		at = end
	}
	return all
}

// between returns what is left of tokens without the first and last ones that both signatures have,
// with a few of these.
func between(tokens []string, first, last int) string {
	from, to := max(0, first-aroundDifference), min(len(tokens), len(tokens)-last+aroundDifference)
	s := strings.Join(tokens[from:to], "")
	if from > 0 {
		s = "… " + strings.TrimSpace(s)
	}
	if to < len(tokens) {
		s += " …"
	}
	return s
}
