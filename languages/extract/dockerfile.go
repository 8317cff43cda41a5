package extract

import (
	"bytes"
	"fmt"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Dockerfiles: stages, by their names or numbers, what they are built from and copy
// from, the variables that they set and the program that they start.
var dockerfileLanguage = Language{Name: "dockerfile", Version: 1, Matches: isDockerfile, Extract: extractDockerfile}

func isDockerfile(path string) bool {
	name := base(path)
	return name == "Dockerfile" || name == "Containerfile" || strings.HasPrefix(name, "Dockerfile.") || strings.HasSuffix(name, ".dockerfile") || strings.HasSuffix(name, ".Dockerfile")
}

// instruction is one, with its continued lines.
type instruction struct {
	word, rest string
	start, end uint32
}

func extractDockerfile(content []byte, facts *recountv1.FileFacts) {
	if len(content) > maxParsed {
		facts.Skipped = fmt.Sprintf("large: %d bytes, at most %d are parsed", len(content), maxParsed)
		return
	}
	src, bad := validText(content)
	facts.Generated = isGenerated(src)
	b := newBuilder(facts, src)
	if bad >= 0 {
		partial(facts, b.place(uint32(bad)), "a byte that is not UTF-8 text")
	}
	all := instructions(src)
	var in uint32
	stages := 0
	for i, n := range all {
		words := strings.Fields(n.rest)
		refer := func(edge recountv1.EdgeKind, path string, attributes map[string]string) {
			b.refer(edge, in, checked(path), n.start).Attributes = attributes
		}
		switch n.word {
		case "FROM":
			for len(words) > 0 && strings.HasPrefix(words[0], "--") {
				words = words[1:]
			}
			if len(words) == 0 {
				continue
			}
			name := fmt.Sprintf("stage %d", stages)
			if len(words) > 2 && strings.EqualFold(words[1], "as") {
				name = words[2]
			}
			end := n.end
			for _, next := range all[i+1:] {
				if next.word == "FROM" {
					break
				}
				end = next.end
			}
			stages++
			var decl *recountv1.Declaration
			in, decl = b.declare(declaration{kind: kindResource, name: name, start: n.start, end: end, head: n.end})
			decl.Exported = true
			if !strings.Contains(words[0], "$") && words[0] != "scratch" {
				refer(dependsOn, imagePath+words[0], nil)
			}
		case "COPY", "ADD":
			for _, w := range words {
				if from, ok := strings.CutPrefix(w, "--from="); ok && !strings.Contains(from, "$") {
					refer(dependsOn, imagePath+from, nil)
				}
			}
		case "ENV":
			for j, w := range words {
				name, _, assigned := strings.Cut(w, "=")
				if (assigned || j == 0) && envName.MatchString(name) {
					refer(configures, envPath+name, map[string]string{"variable": name})
				}
			}
		case "CMD", "ENTRYPOINT":
			if strings.HasPrefix(n.rest, "[") {
				words = strings.FieldsFunc(n.rest, func(r rune) bool { return strings.ContainsRune(`[]", `, r) })
			}
			if len(words) > 0 && !strings.ContainsAny(words[0], "${}\"'-[]") {
				refer(executes, words[0], map[string]string{"command": clip(strings.Join(words, " "), maxValue)})
			}
		}
	}
	b.sort()
}

// instructions are a Dockerfile's, without comments and the bodies of heredocs.
func instructions(src []byte) (all []instruction) {
	at := 0
	for at < len(src) {
		end := lineEndAt(src, at)
		line := bytes.TrimSpace(src[at:end])
		if len(line) == 0 || line[0] == '#' {
			at = end + 1
			continue
		}
		start := at + bytes.Index(src[at:end], line)
		var text []byte
		for {
			part := bytes.TrimSpace(src[at:end])
			if len(part) == 0 || part[0] != '#' {
				text = append(append(text, bytes.TrimRight(part, "\\")...), ' ')
			}
			if len(part) > 0 && part[0] != '#' && part[len(part)-1] != '\\' || end >= len(src) {
				break
			}
			at = end + 1
			end = lineEndAt(src, at)
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		all = append(all, instruction{strings.ToUpper(word), strings.TrimSpace(rest), uint32(start), uint32(min(end, len(src)))})
		if i := strings.Index(rest, "<<"); i >= 0 && (strings.EqualFold(word, "RUN") || strings.EqualFold(word, "COPY")) {
			mark := strings.Trim(strings.TrimLeft(rest[i+2:], "-"), `"' `)
			mark, _, _ = strings.Cut(mark, " ")
			mark = strings.Trim(mark, `"'`)
			for end < len(src) {
				next := lineEndAt(src, end+1)
				body := string(bytes.TrimSpace(src[min(end+1, next):next]))
				end = next
				if body == mark {
					break
				}
			}
		}
		at = end + 1
	}
	return all
}

// lineEndAt is where the line that begins at a byte ends.
func lineEndAt(src []byte, at int) int {
	if at >= len(src) {
		return len(src)
	}
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(src)
}
