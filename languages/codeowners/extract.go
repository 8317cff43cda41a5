// Package codeowners extracts CODEOWNERS: who owns which paths.
package codeowners

import (
	"bytes"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractor reads the files in which GitHub, GitLab, Gitea and Forgejo look for owners.
var extractor = extract.Language{
	Name: "codeowners", Version: 1, Extract: extractOwners,
	Matches: func(path string) bool {
		return slices.Contains([]string{"CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS", ".gitea/CODEOWNERS", ".forgejo/CODEOWNERS"}, path)
	},
}

// maxOwnerRules limits how many rules of a file are read. GitHub ignores a file of more than 3
// MB.
const maxOwnerRules = 50_000

// extractOwners reads rules: a pattern, then owners, then perhaps a comment. A space in a
// pattern is written with a backslash. It also reads GitLab's sections, [Name] or ^[Name],
// with the number of approvals and the owners of those of its rules that name none:
//
//	^[Documentation][2] @docs-team
func extractOwners(content []byte, facts *recountv1.FileFacts) {
	section := ""
	var inherited []string
	n := uint32(0)
	for raw := range bytes.Lines(content) {
		n++
		text := strings.TrimSpace(strings.ToValidUTF8(string(raw), "_"))
		if text == "" || text[0] == '#' {
			continue
		}
		if name, rest, ok := cutSection(text); ok {
			section, inherited = extract.Clip(name, extract.MaxName), ownersOf(strings.Fields(rest))
			continue
		}
		if len(facts.OwnerRules) == maxOwnerRules {
			extract.Partial(facts, nil, "more than 50,000 rules")
			return
		}
		words := splitOwners(text)
		rule := &recountv1.OwnerRule{Pattern: extract.Clip(words[0], extract.MaxName), Line: n, Section: section, Owners: ownersOf(words[1:])}
		// GitLab's exclusions have no owners; GitHub has no exclusions.
		if len(rule.Owners) == 0 && !strings.HasPrefix(rule.Pattern, "!") {
			rule.Owners = inherited
		}
		facts.OwnerRules = append(facts.OwnerRules, rule)
	}
}

// cutSection reads the head of a section.
func cutSection(text string) (name, rest string, ok bool) {
	text, _ = strings.CutPrefix(text, "^")
	name, rest, ok = strings.Cut(strings.TrimPrefix(text, "["), "]")
	if !ok || !strings.HasPrefix(text, "[") || strings.TrimSpace(name) == "" {
		return "", "", false
	}
	if strings.HasPrefix(rest, "[") { // the number of approvals
		if _, rest, ok = strings.Cut(rest, "]"); !ok {
			return "", "", false
		}
	}
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", "", false // a pattern with a class of letters
	}
	return strings.TrimSpace(name), rest, true
}

// splitOwners splits a line at white space without a backslash before it.
func splitOwners(text string) []string {
	var words []string
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '#'):
			i++
			b.WriteByte(text[i])
		case c == ' ' || c == '\t':
			if b.Len() > 0 {
				words = append(words, b.String())
				b.Reset()
			}
		default:
			b.WriteByte(c)
		}
	}
	if b.Len() > 0 {
		words = append(words, b.String())
	}
	return words
}

// ownersOf returns the words before a comment.
func ownersOf(words []string) []string {
	var owners []string
	for _, w := range words {
		if strings.HasPrefix(w, "#") {
			break
		}
		owners = append(owners, extract.Clip(w, extract.MaxName))
	}
	return owners
}
