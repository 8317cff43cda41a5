// Package yaml reads YAML of the families that are known: Kubernetes, Compose, GitHub
// Actions, CloudFormation and others.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractor reads YAML. The documents of a file decide its format, which becomes the language of the
// facts: "kubernetes", "compose", "github-actions", "cloudformation" or "serverless". Any other file
// is "yaml" and declares nothing. Aliases are not followed, so that the work is bounded by the size of
// the file.
var extractor = extract.Language{Name: "yaml", Version: 4, Matches: extract.Suffixed(".yaml", ".yml"), Extract: extractYAML}

// yamlFamilies are the formats in YAML: of each document the first that takes it.
var yamlFamilies = []struct {
	name string
	is   func(doc yamlMap) bool
	read func(y *yamlFile, doc yamlMap)
}{
	{"kubernetes", isKubernetes, (*yamlFile).kubernetes},
	{"cloudformation", isCloudFormation, (*yamlFile).cloudFormation},
	{"serverless", isServerless, (*yamlFile).serverless},
	{"serverless", isServerlessPart, (*yamlFile).serverlessPart},
	{"github-actions", isActions, (*yamlFile).actions},
	{"compose", isCompose, (*yamlFile).compose},
}

// maxYAMLDepth is the nesting of a file's documents that is followed.
const maxYAMLDepth = 64

type yamlFile struct {
	*extract.Builder
	// limit is where the document ends.
	limit uint32
}

func extractYAML(content []byte, facts *recountv1.FileFacts) {
	if len(content) > extract.MaxParsed {
		facts.Skipped = fmt.Sprintf("large: %d bytes, at most %d are parsed", len(content), extract.MaxParsed)
		return
	}
	src, bad := extract.ValidText(content)
	facts.Generated = extract.IsGenerated(src)
	y := &yamlFile{Builder: extract.NewBuilder(facts, src)}
	y.Indented = true
	if bad >= 0 {
		extract.Partial(facts, y.Place(uint32(bad)), "a byte that is not UTF-8 text")
	}
	if at := tooDeep(src); at >= 0 {
		extract.Partial(facts, y.Place(uint32(at)), extract.TooDeep)
		return
	}
	docs, err := yamlDocuments(src)
	if err != nil {
		if bytes.Contains(src, []byte("{{")) {
			facts.Skipped = "template: it is YAML only when its {{ … }} are filled in"
			facts.Partial, facts.Problem = false, ""
			return
		}
		extract.Partial(facts, nil, extract.OneLine(err.Error()))
	}
	for i, n := range docs {
		doc, ok := mapOf(n)
		if !ok {
			continue
		}
		y.limit = uint32(len(src))
		if i+1 < len(docs) {
			y.limit = y.offset(docs[i+1])
		}
		for _, family := range yamlFamilies {
			if (facts.Language == "yaml" || facts.Language == family.name) && family.is(doc) {
				facts.Language = family.name
				family.read(y, doc)
				break
			}
		}
	}
	y.Sort()
}

// tooDeep finds where brackets or block indentation are nested beyond MaxDepth; -1
// where they are not. The parser recurses for each.
func tooDeep(src []byte) int {
	depth := 0
	for i, c := range src {
		switch c {
		case '[', '{':
			if depth++; depth > extract.MaxDepth {
				return i
			}
		case ']', '}':
			depth = max(depth-1, 0)
		case '-', '?':
			// "- - - -" nests on one line.
			n := 0
			for j := i; j < len(src) && n <= extract.MaxDepth; n++ {
				if src[j] != c || j+1 < len(src) && src[j+1] > ' ' {
					break
				}
				for j++; j < len(src) && src[j] == ' '; j++ {
				}
			}
			if n > extract.MaxDepth {
				return i
			}
		}
	}
	return -1
}

// yamlDocuments are the contents of a file's documents, those before an error too.
func yamlDocuments(src []byte) (docs []*yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(src))
	for {
		var n yaml.Node
		switch err := d.Decode(&n); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			return docs, err
		}
		if len(n.Content) > 0 {
			docs = append(docs, n.Content[0])
		}
	}
}

// offset is the byte at which a node begins: yaml counts lines and characters from 1.
func (y *yamlFile) offset(n *yaml.Node) uint32 {
	if n == nil || n.Line < 1 || n.Line > len(y.Lines) {
		return 0
	}
	at := int(y.Lines[n.Line-1])
	for c := 1; c < n.Column && at < len(y.Content) && y.Content[at] != '\n'; c++ {
		_, size := utf8.DecodeRune(y.Content[at:])
		at += size
	}
	return uint32(at)
}

// declareNode declares what stands from a node up to the node behind it, nil for the
// document's end.
func (y *yamlFile) declareNode(kind recountv1.SymbolKind, name, signature string, in uint32, from, behind *yaml.Node) (uint32, *recountv1.Declaration) {
	start, end := y.offset(from), y.limit
	if behind != nil {
		end = y.offset(behind)
	}
	for end > start && y.Content[end-1] <= ' ' {
		end--
	}
	if bytes.HasSuffix(y.Content[start:end], []byte("\n---")) {
		for end -= 3; end > start && y.Content[end-1] <= ' '; {
			end--
		}
	}
	inner, decl := y.Declare(extract.Declaration{Kind: kind, Name: name, In: in, Start: start, End: end, Doc: y.commentAbove(from)})
	decl.Signature, decl.Exported = extract.Clip(extract.OneLine(signature), extract.MaxSignature), true
	return inner, decl
}

// commentAbove is the comment on the lines in front of a node.
func (y *yamlFile) commentAbove(n *yaml.Node) string { return extract.CleanDoc(n.HeadComment) }

func (y *yamlFile) referTo(edge recountv1.EdgeKind, in uint32, path string, at *yaml.Node, attributes map[string]string) {
	r := y.Refer(edge, in, extract.Checked(extract.OneLine(path)), y.offset(at))
	r.Attributes = attributes
}

// yamlMap is a mapping's entries, in order; of a key that stands twice the first.
type yamlMap struct{ entries []yamlEntry }

type yamlEntry struct {
	name       string
	key, value *yaml.Node
	// behind is the key of the next entry.
	behind *yaml.Node
}

func mapOf(n *yaml.Node) (yamlMap, bool) {
	if n == nil || n.Kind != yaml.MappingNode {
		return yamlMap{}, false
	}
	var m yamlMap
	for i := 0; i+1 < len(n.Content); i += 2 {
		if i > 0 {
			m.entries[i/2-1].behind = n.Content[i]
		}
		m.entries = append(m.entries, yamlEntry{n.Content[i].Value, n.Content[i], n.Content[i+1], nil})
	}
	return m, true
}

// get returns the value at a chain of keys, nil if there is none.
func (m yamlMap) get(names ...string) *yaml.Node {
	for i, name := range names {
		var found *yaml.Node
		for _, e := range m.entries {
			if e.name == name {
				found = e.value
				break
			}
		}
		if found == nil || i == len(names)-1 {
			return found
		}
		m, _ = mapOf(found)
	}
	return nil
}

// lookup is the mapping at a chain of keys.
func (m yamlMap) lookup(names ...string) yamlMap {
	inner, _ := mapOf(m.get(names...))
	return inner
}

// text is the scalar at a chain of keys.
func (m yamlMap) text(names ...string) string { return scalar(m.get(names...)) }

func scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// items are the elements of a sequence.
func items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// mapsIn are the mappings in a sequence.
func mapsIn(n *yaml.Node) (all []yamlMap) {
	for _, c := range items(n) {
		if m, ok := mapOf(c); ok {
			all = append(all, m)
		}
	}
	return all
}

// key is the first key of a mapping, where it stands.
func (m yamlMap) key() *yaml.Node {
	if len(m.entries) == 0 {
		return nil
	}
	return m.entries[0].key
}

// walkYAML calls use with every node below n, but not behind aliases.
func walkYAML(n *yaml.Node, depth int, use func(n *yaml.Node)) {
	if n == nil || depth > maxYAMLDepth {
		return
	}
	use(n)
	for _, c := range n.Content {
		walkYAML(c, depth+1, use)
	}
}

// setEnv notes the environment variables that something sets: names of a mapping, or
// NAME=value in a sequence.
func (y *yamlFile) setEnv(in uint32, env *yaml.Node) {
	if m, ok := mapOf(env); ok {
		for _, e := range m.entries {
			y.setVariable(in, e.name, scalar(e.value), e.key)
		}
	}
	for _, c := range items(env) {
		if name, value, _ := strings.Cut(scalar(c), "="); name != "" {
			y.setVariable(in, name, value, c)
		}
	}
}

// setVariable notes a variable, and the host that its value names.
func (y *yamlFile) setVariable(in uint32, name, value string, at *yaml.Node) {
	if !extract.EnvName.MatchString(name) || len(name) > 128 {
		return
	}
	y.referTo(extract.Configures, in, extract.EnvPath+name, at, map[string]string{"variable": name})
	if host := hostOf(value); host != "" {
		y.referTo(extract.DependsOn, in, host, at, map[string]string{"host": "true"})
	}
}

var address = regexp.MustCompile(`^(?:[a-z][a-z0-9+.-]*://)?(?:[^@/\s]*@)?([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)((?:\.[a-z0-9-]+)*)(?::([0-9]{2,5}))?(?:/\S*)?$`)

// hostOf is the first label of the host in host:port or scheme://host.
func hostOf(value string) string {
	if len(value) > 253 {
		return ""
	}
	m := address.FindStringSubmatch(value)
	if m == nil || m[3] == "" && !strings.Contains(value, "://") {
		return ""
	}
	if m[2] != "" && !strings.Contains(m[2], ".svc") {
		return "" // a name of the internet
	}
	return m[1]
}

// runs notes the program that a command starts.
func (y *yamlFile) runs(in uint32, command *yaml.Node) {
	var words []string
	at := command
	for _, c := range items(command) {
		words = append(words, scalar(c))
	}
	if text := scalar(command); text != "" {
		line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		words = strings.Fields(line)
	}
	if len(words) == 0 || words[0] == "" || strings.ContainsAny(words[0], "${}()#=\"'") {
		return
	}
	y.referTo(extract.Executes, in, words[0], at, map[string]string{"command": extract.Clip(extract.OneLine(strings.Join(words, " ")), extract.MaxValue)})
}
