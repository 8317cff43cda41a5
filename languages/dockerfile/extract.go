// Package dockerfile extracts Dockerfiles: stages, images, programs and environment. The resolver
// in package yaml takes them too.
package dockerfile

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractor reads stages by their names or numbers, the images and stages that they are built
// from and copy from, the variables that they set and the program that they start.
var extractor = extract.Language{Name: "dockerfile", Version: 1, Matches: isDockerfile, Extract: extractDockerfile}

func isDockerfile(path string) bool {
	name := extract.Base(path)
	return name == "Dockerfile" || name == "Containerfile" || strings.HasPrefix(name, "Dockerfile.") || strings.HasSuffix(name, ".dockerfile") || strings.HasSuffix(name, ".Dockerfile")
}

// instruction is one instruction with its continued lines.
type instruction struct {
	word, rest string
	start, end uint32
}

func extractDockerfile(content []byte, facts *recountv1.FileFacts) {
	if len(content) > extract.MaxParsed {
		facts.Skipped = fmt.Sprintf("large: %d bytes, at most %d are parsed", len(content), extract.MaxParsed)
		return
	}
	src, bad := extract.ValidText(content)
	facts.Generated = extract.IsGenerated(src)
	b := extract.NewBuilder(facts, src)
	if bad >= 0 {
		extract.Partial(facts, b.Place(uint32(bad)), "a byte that is not UTF-8 text")
	}
	all := instructions(src)
	var in uint32
	stages := 0
	for i, n := range all {
		words := strings.Fields(n.rest)
		refer := func(edge recountv1.EdgeKind, path string, attributes map[string]string) {
			b.Refer(edge, in, extract.Checked(path), n.start).Attributes = attributes
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
			in, decl = b.Declare(extract.Declaration{Kind: extract.KindResource, Name: name, Start: n.start, End: end, Head: n.end})
			decl.Exported = true
			if !strings.Contains(words[0], "$") && words[0] != "scratch" {
				refer(extract.DependsOn, extract.ImagePath+words[0], nil)
			}
		case "COPY", "ADD":
			for _, w := range words {
				if from, ok := strings.CutPrefix(w, "--from="); ok && !strings.Contains(from, "$") {
					refer(extract.DependsOn, extract.ImagePath+from, nil)
				}
			}
		case "ENV":
			for j, w := range words {
				name, _, assigned := strings.Cut(w, "=")
				if (assigned || j == 0) && extract.EnvName.MatchString(name) {
					refer(extract.Configures, extract.EnvPath+name, map[string]string{"variable": name})
				}
			}
		case "CMD", "ENTRYPOINT":
			if strings.HasPrefix(n.rest, "[") {
				words = strings.FieldsFunc(n.rest, func(r rune) bool { return strings.ContainsRune(`[]", `, r) })
			}
			if len(words) > 0 && !strings.ContainsAny(words[0], "${}\"'-[]") {
				refer(extract.Executes, words[0], map[string]string{"command": extract.Clip(strings.Join(words, " "), extract.MaxValue)})
			}
		}
	}
	b.Sort()
}

// instructions returns the instructions of a Dockerfile, without comments and the bodies of
// heredocs.
func instructions(src []byte) (all []instruction) {
	at := 0
	for at < len(src) {
		end := extract.LineEndAt(src, at)
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
			end = extract.LineEndAt(src, at)
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
		all = append(all, instruction{strings.ToUpper(word), strings.TrimSpace(rest), uint32(start), uint32(min(end, len(src)))})
		if i := strings.Index(rest, "<<"); i >= 0 && (strings.EqualFold(word, "RUN") || strings.EqualFold(word, "COPY")) {
			mark := strings.Trim(strings.TrimLeft(rest[i+2:], "-"), `"' `)
			mark, _, _ = strings.Cut(mark, " ")
			mark = strings.Trim(mark, `"'`)
			for end < len(src) {
				next := extract.LineEndAt(src, end+1)
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
