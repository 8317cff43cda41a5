package code_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/languages"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/projections"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// toy is a readable language for tests. A file is lines of
//
//	package PATH
//	KIND NAME [-> TARGET…] [= BODY] [// DOC]
//
// KIND is a symbol's kind, or test. TARGET is a call: a name of the repository, or PACKAGE#NAME of
// an external one. Other edges are written KIND:NAME, for example "implements:NAME" or
// "handles_route:NAME". ?NAME is resolved by name only.
type toy struct{}

func (toy) Name() string        { return "toy/1" }
func (toy) Languages() []string { return []string{"toy"} }

func (toy) Resolve(_ context.Context, t resolve.Tree, _ resolve.Change) ([]resolve.FileGraph, error) {
	home := map[string]schemas.NodeKey{}
	var all []resolve.FileGraph
	facts := map[string]*recountv1.FileFacts{}
	for f := range t.Files("") {
		if f.Language != "toy" || f.Skipped != "" {
			continue
		}
		said, err := t.Facts(f)
		if err != nil {
			return nil, err
		}
		facts[f.Path] = said
		all = append(all, resolve.Base(f, said, said.Package))
		d := resolve.Declare(f.Path, said)
		for _, k := range d.Keys {
			if _, taken := home[k.Chain()]; !taken {
				home[k.Chain()] = k
			}
		}
	}
	for i := range all {
		g := &all[i]
		keys := resolve.Declare(g.Path, facts[g.Path]).Keys
		for _, ref := range facts[g.Path].References {
			from, known := keys[ref.In-1], recountv1.Provenance_PROVENANCE_TYPES_RESOLVED
			name, guessed := strings.CutPrefix(ref.Path, "?")
			if guessed {
				known = recountv1.Provenance_PROVENANCE_NAME_MATCHED
			}
			e := resolve.EdgeAt(known, ref.At)
			pkg, outside, foreign := strings.Cut(name, "#")
			to, ok := home[name]
			switch {
			case foreign:
				g.Externals = append(g.Externals, resolve.External{From: from, Kind: ref.Edge, Language: "toy", Package: pkg, Name: outside, Edge: e})
			case ok:
				g.Edges = append(g.Edges, resolve.Edge{From: from, To: to, Kind: ref.Edge, Edge: e})
			default:
				g.Unresolved = append(g.Unresolved, resolve.Unresolved{From: from, Kind: ref.Edge, Path: name, At: ref.At})
			}
		}
		g.Normalize()
	}
	return all, nil
}

// parseToy adds the facts of a file.
func parseToy(content string, f *recountv1.FileFacts) {
	f.Language = "toy"
	for i, line := range strings.Split(content, "\n") {
		line, doc, _ := strings.Cut(line, " // ")
		line, body, _ := strings.Cut(line, " = ")
		words := strings.Fields(line)
		if len(words) < 2 || strings.HasPrefix(line, "#") {
			continue
		}
		if words[0] == "package" {
			f.Package = words[1]
			continue
		}
		kind, test := words[0], false
		if kind == "test" {
			kind, test = "function", true
		}
		n := uint32(i + 1)
		d := &recountv1.Declaration{
			Kind: recountv1.SymbolKind(recountv1.SymbolKind_value["SYMBOL_KIND_"+strings.ToUpper(kind)]), Name: words[1], Test: test,
			Start: &recountv1.Place{Line: n}, End: &recountv1.Place{Line: n, Column: 80}, Signature: words[0] + " " + words[1], Doc: doc,
		}
		sum := sha1.Sum([]byte(line + body))
		for _, b := range sum[:8] {
			d.BodyHash = d.BodyHash<<8 | uint64(b)
		}
		if owner, name, ok := cutLast(words[1]); ok {
			d.OwnerPath, d.Name = owner, name
		}
		d.Exported = strings.ToUpper(d.Name[:1]) == d.Name[:1] && !test
		f.Declarations = append(f.Declarations, d)
		for _, target := range words[min(len(words), 3):] {
			edge := recountv1.EdgeKind_EDGE_KIND_CALLS
			if k, rest, ok := strings.Cut(target, ":"); ok {
				edge, target = recountv1.EdgeKind(recountv1.EdgeKind_value["EDGE_KIND_"+strings.ToUpper(k)]), rest
			}
			f.References = append(f.References, &recountv1.Reference{Edge: edge, Path: target, In: uint32(len(f.Declarations)), At: &recountv1.Place{Line: n, Column: 9}})
		}
	}
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}

// memory is the projection, fed by hand.
type memory struct {
	t     testing.TB
	set   *projections.Set
	next  int64
	files map[string]map[string]string // repository → path → content, at its last commit
	last  map[string]string
	s     code.Sources
	// contents are those of files, by the offset of the record of their facts.
	contents map[int64]string
}

func newMemory(t testing.TB) *memory {
	t.Helper()
	return memoryOf(t, snapshots.Options{Resolvers: func() []resolve.Resolver { return []resolve.Resolver{toy{}} }})
}

// languageOf returns the language of a path in commits.
func languageOf(path string) string {
	switch {
	case strings.HasSuffix(path, ".toy"):
		return "toy"
	case strings.HasSuffix(path, "CODEOWNERS"):
		return "codeowners"
	}
	return languages.NameOf(path)
}

// memoryOf returns a memory with the given options.
func memoryOf(t testing.TB, o snapshots.Options) *memory {
	t.Helper()
	o.Language = languageOf
	kind := snapshots.Kind(o)
	set, err := projections.Open(t.TempDir(), projections.Options{}, kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	})
	m := &memory{
		t: t, set: set, files: map[string]map[string]string{}, last: map[string]string{}, contents: map[int64]string{},
		s: code.Sources{Set: set, Graphs: code.NewCache(0)},
	}
	m.s.Contents = func(_ context.Context, at []schemas.Position, yield func(schemas.Position, []byte) error) error {
		for _, p := range at {
			if err := yield(p, []byte(m.contents[p.Offset])); err != nil {
				return err
			}
		}
		return nil
	}
	return m
}

var tp = schemas.TopicPartition{Topic: "recount.commits"}

func (m *memory) record(r *recountv1.Record) *recountv1.Record {
	r.Origin = &recountv1.Position{Topic: tp.Topic, Offset: m.next}
	event := sha1.Sum(fmt.Append(nil, "event", m.next))
	r.EventId, r.TimeUnixNano = event[:16], m.next*1e9
	m.next++
	return r
}

// commit commits a text archive: the files in it are written, or deleted if empty. The message is
// the archive's comment.
func (m *memory) commit(repo, author, archive string) string {
	m.t.Helper()
	ar := txtar.Parse([]byte(archive))
	now := maps.Clone(m.files[repo])
	if now == nil {
		now = map[string]string{}
	}
	var records []*recountv1.Record
	c := &recountv1.CommitRecorded{
		Repository: repo, Scope: recountv1.Scope_SCOPE_FULL, Message: strings.TrimSpace(string(ar.Comment)),
		Author: &recountv1.Signature{Name: author, Email: strings.ToLower(author) + "@example.org", Time: timestamppb.New(epoch.AddDate(0, 0, int(m.next)))},
	}
	if parent := m.last[repo]; parent != "" {
		c.Parents, c.Scope = []string{parent}, recountv1.Scope_SCOPE_CHANGES
	}
	for _, f := range ar.Files {
		content := string(f.Data)
		if strings.TrimSpace(content) == "" {
			delete(now, f.Name)
			c.Changes = append(c.Changes, &recountv1.FileChange{Path: f.Name, Status: recountv1.ChangeStatus_CHANGE_STATUS_DELETED})
			continue
		}
		now[f.Name] = content
		sum := sha1.Sum([]byte(content))
		blob := hex.EncodeToString(sum[:])
		facts := &recountv1.FileFacts{Repository: repo, Path: f.Name, Blob: blob, Size: int64(len(content))}
		switch {
		case strings.HasSuffix(f.Name, "CODEOWNERS"):
			facts.Language = "codeowners"
			for i, line := range strings.Split(content, "\n") {
				section := ""
				if strings.HasPrefix(line, "[") {
					section, line, _ = strings.Cut(line[1:], "]")
				}
				if words := strings.Fields(line); len(words) > 0 {
					facts.OwnerRules = append(facts.OwnerRules, &recountv1.OwnerRule{Pattern: words[0], Owners: words[1:], Line: uint32(i + 1), Section: section})
				}
			}
		case strings.HasSuffix(f.Name, ".toy"):
			parseToy(content, facts)
		default:
			if l, ok := languages.OfPath(f.Name); ok {
				facts.Language = l.Name
				l.Extract([]byte(content), facts)
			}
		}
		m.contents[m.next] = content
		records = append(records, m.record(&recountv1.Record{EventType: schemas.TypeSourceRevised, Body: &recountv1.Record_FileFacts{FileFacts: facts}}))
		c.Changes = append(c.Changes, &recountv1.FileChange{Path: f.Name, Status: recountv1.ChangeStatus_CHANGE_STATUS_MODIFIED, Mode: 0o100644, Blob: blob})
	}
	sum := sha1.Sum(fmt.Append(nil, repo, m.next, archive))
	c.Commit = hex.EncodeToString(sum[:])
	records = append(records,
		m.record(&recountv1.Record{EventType: schemas.TypeCommitRecorded, Body: &recountv1.Record_Commit{Commit: c}}),
		m.record(&recountv1.Record{EventType: schemas.TypeRefMoved, Body: &recountv1.Record_RefMoved{RefMoved: &recountv1.RefMoved{Repository: repo, Ref: "HEAD", NewCommit: c.Commit}}}))
	m.files[repo], m.last[repo] = now, c.Commit
	if err := m.set.Apply(m.t.Context(), schemas.Batch{Topic: tp.Topic, Next: m.next, Records: records}); err != nil {
		m.t.Fatal(err)
	}
	return c.Commit
}

const shop = "github.com/acme/shop"

// newShop returns a small repository that most tests query.
func newShop(t testing.TB) *memory {
	m := newMemory(t)
	m.commit(shop, "Ada", `a shop
-- pkg/kgo/client.toy --
package github.com/acme/shop/pkg/kgo
struct Client
method Client.Produce -> Client.flush log#Print
method Client.flush -> Writer.Write
method Client.Close -> Client.flush
interface Writer
method Writer.Write
-- pkg/kgo/conn.toy --
package github.com/acme/shop/pkg/kgo
struct conn -> implements:Writer
method conn.Write -> implements:Writer.Write github.com/acme/net#Dial
-- pkg/kgo/client_test.toy --
package github.com/acme/shop/pkg/kgo
test TestProduce -> Client.Produce
-- cmd/main.toy --
package github.com/acme/shop/cmd
function main -> run
function run -> Client.Produce ?Client.Close nowhere
-- web/routes.toy --
package github.com/acme/shop/web
route GET_/orders
function listOrders -> handles_route:GET_/orders run
-- CODEOWNERS --
* @acme/everyone
/pkg/ @acme/kafka
*.md @acme/docs
`)
	return m
}

func lines[T any](all []T, f func(T) string) []string {
	out := []string{}
	for _, x := range all {
		out = append(out, f(x))
	}
	return out
}
