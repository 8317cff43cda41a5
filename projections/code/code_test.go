package code

import (
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// toy resolves a language in which a file declares functions and calls others by name, wherever
// they are, so a change of one file changes the edges of others.
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
		all = append(all, resolve.Base(f, said, "toy"))
		for i, k := range resolve.Declare(f.Path, said).Keys {
			if _, taken := home[said.Declarations[i].Name]; !taken {
				home[said.Declarations[i].Name] = k
			}
		}
	}
	for i := range all {
		g := &all[i]
		keys := resolve.Declare(g.Path, facts[g.Path]).Keys
		for _, ref := range facts[g.Path].References {
			from := keys[ref.In-1]
			if to, ok := home[ref.Path]; ok {
				g.Edges = append(g.Edges, resolve.Edge{From: from, To: to, Kind: ref.Edge, Edge: resolve.EdgeAt(recountv1.Provenance_PROVENANCE_NAME_MATCHED, ref.At)})
			} else if ref.Path == "print" {
				g.Externals = append(g.Externals, resolve.External{From: from, Kind: ref.Edge, Language: "toy", Package: "std", Name: "print", Edge: resolve.EdgeAt(recountv1.Provenance_PROVENANCE_NAME_MATCHED, ref.At)})
			} else {
				g.Unresolved = append(g.Unresolved, resolve.Unresolved{From: from, Kind: ref.Edge, Path: ref.Path, At: ref.At})
			}
		}
		g.Normalize()
	}
	return all, nil
}

func toyOptions() Options {
	return Options{Language: toyLanguage, Resolvers: func() []resolve.Resolver { return []resolve.Resolver{toy{}} }}
}

func toyLanguage(path string) string {
	switch {
	case strings.HasSuffix(path, ".toy") || strings.HasSuffix(path, ".toyi"):
		return "toy"
	case strings.HasSuffix(path, ".yaml"):
		return "yaml"
	}
	return ""
}

func id(parts ...any) string {
	sum := sha1.Sum(fmt.Append(nil, parts...))
	return hex.EncodeToString(sum[:])
}

// history generates records like those of real repositories: contents, commits on branches, merges,
// commits in parts, refs.
type history struct {
	rng     *rand.Rand
	shard   *projtest.Shard
	repo    string
	commits []string
	files   map[string]map[string]string // commit → path → blob
	sent    map[string]bool
	n       int
}

func newHistory(rng *rand.Rand, shard *projtest.Shard, repo string) *history {
	return &history{rng: rng, shard: shard, repo: repo, files: map[string]map[string]string{}, sent: map[string]bool{}}
}

func (h *history) add(body any) {
	h.n++
	r := &recountv1.Record{
		Origin:       &recountv1.Position{Topic: h.shard.TP.Topic, Partition: h.shard.TP.Partition, Offset: h.shard.Next},
		TimeUnixNano: int64(h.n) * 1e9,
	}
	event := sha1.Sum(fmt.Append(nil, h.repo, h.n, h.shard.TP))
	r.EventId = event[:16]
	switch b := body.(type) {
	case *recountv1.FileFacts:
		r.EventType, r.Body = schemas.TypeSourceRevised, &recountv1.Record_FileFacts{FileFacts: b}
	case *recountv1.CommitRecorded:
		r.EventType, r.Body = schemas.TypeCommitRecorded, &recountv1.Record_Commit{Commit: b}
	case *recountv1.RefMoved:
		r.EventType, r.Body = schemas.TypeRefMoved, &recountv1.Record_RefMoved{RefMoved: b}
	case *recountv1.SnapshotsRetired:
		r.EventType, r.Body = schemas.TypeRetired, &recountv1.Record_SnapshotsRetired{SnapshotsRetired: b}
	}
	h.shard.Records = append(h.shard.Records, r)
	h.shard.Next++
}

var paths = []string{"a.toy", "b.toy", "lib/a.toy", "lib/c.toy", "lib/deep/d.toy", "notes.md"}

// content adds the facts of a random file and returns the blob that names them.
func (h *history) content(path string) string {
	seed := h.rng.Uint64N(40)
	blob := id(path, seed)
	if h.sent[blob] {
		return blob
	}
	h.sent[blob] = true
	rng := rand.New(rand.NewPCG(seed, binary.BigEndian.Uint64([]byte(blob))))
	f := &recountv1.FileFacts{Repository: h.repo, Path: path, Blob: blob, Size: int64(rng.IntN(5000))}
	if path != "notes.md" {
		f.Language = "toy"
		line := uint32(1 + rng.IntN(5))
		for i := range 1 + rng.IntN(4) {
			f.Declarations = append(f.Declarations, &recountv1.Declaration{
				Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: fmt.Sprintf("f%d", rng.IntN(8)),
				Start: &recountv1.Place{Line: line}, End: &recountv1.Place{Line: line + 3}, BodyHash: rng.Uint64(),
			})
			for range rng.IntN(4) {
				f.References = append(f.References, &recountv1.Reference{
					Edge: recountv1.EdgeKind_EDGE_KIND_CALLS, In: uint32(i + 1), At: &recountv1.Place{Line: line + 1, Column: rng.Uint32N(60)},
					Path: []string{"print", "nowhere", fmt.Sprintf("f%d", rng.IntN(8))}[min(rng.IntN(5), 2)],
				})
			}
			line += 5
		}
	}
	h.add(f)
	return blob
}

func (h *history) commit() {
	now := map[string]string{}
	m := &recountv1.CommitRecorded{
		Repository: h.repo, Scope: recountv1.Scope_SCOPE_FULL, Message: fmt.Sprintf("change %d", len(h.commits)),
		Committer: &recountv1.Signature{Time: day(len(h.commits))},
	}
	if len(h.commits) > 0 {
		parent := h.commits[len(h.commits)-1-h.rng.IntN(min(3, len(h.commits)))]
		m.Parents, m.Scope = []string{parent}, recountv1.Scope_SCOPE_CHANGES
		if other := h.commits[h.rng.IntN(len(h.commits))]; other != parent && h.rng.IntN(4) == 0 {
			m.Parents = append(m.Parents, other)
		}
		now = maps.Clone(h.files[parent])
	}
	for _, path := range paths {
		was, there := now[path]
		switch {
		case there && h.rng.IntN(8) == 0:
			delete(now, path)
			m.Changes = append(m.Changes, &recountv1.FileChange{Path: path, Status: recountv1.ChangeStatus_CHANGE_STATUS_DELETED})
		case there && h.rng.IntN(8) == 0 && now["moved/"+path] == "":
			delete(now, path)
			now["moved/"+path] = was
			m.Changes = append(m.Changes, &recountv1.FileChange{Path: "moved/" + path, OldPath: path, Status: recountv1.ChangeStatus_CHANGE_STATUS_RENAMED, Mode: 0o100644, Blob: was})
		case !there && h.rng.IntN(2) == 0 || there && h.rng.IntN(3) == 0:
			now[path] = h.content(path)
			m.Changes = append(m.Changes, &recountv1.FileChange{Path: path, Status: recountv1.ChangeStatus_CHANGE_STATUS_MODIFIED, Mode: 0o100644, Blob: now[path]})
		}
	}
	if len(h.commits) > 0 && h.rng.IntN(6) == 0 { // a branch that begins before the known history
		m.Scope, m.Changes = recountv1.Scope_SCOPE_FULL, nil
		for _, path := range slices.Sorted(maps.Keys(now)) {
			m.Changes = append(m.Changes, &recountv1.FileChange{Path: path, Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: now[path]})
		}
	}
	m.Commit = id(h.repo, len(h.commits), now)
	h.files[m.Commit] = now
	h.commits = append(h.commits, m.Commit)
	if n := len(m.Changes); n > 1 && h.rng.IntN(4) == 0 {
		for i, changes := range [][]*recountv1.FileChange{m.Changes[:n/2], m.Changes[n/2:]} {
			h.add(&recountv1.CommitRecorded{
				Repository: m.Repository, Commit: m.Commit, Parents: m.Parents, Scope: m.Scope, Message: m.Message, Committer: m.Committer,
				Changes: changes, Part: int32(i), Parts: 2,
			})
		}
	} else {
		h.add(m)
	}
	if h.rng.IntN(3) == 0 {
		h.add(&recountv1.RefMoved{Repository: h.repo, Ref: "refs/heads/main", NewCommit: m.Commit})
	}
}

func generate(seed uint64, partitions, records int) []projtest.Shard {
	rng := rand.New(rand.NewPCG(seed, 0xc0de))
	shards := make([]projtest.Shard, partitions)
	for i := range shards {
		shards[i].TP = schemas.TopicPartition{Topic: "recount.commits", Partition: int32(i)}
		repos := []*history{newHistory(rng, &shards[i], fmt.Sprintf("acme/shop%d", i)), newHistory(rng, &shards[i], fmt.Sprintf("acme/lib%d", i))}
		for len(shards[i].Records) < records {
			repo := repos[rng.IntN(2)]
			repo.commit()
			if rng.IntN(6) == 0 {
				repo.add(&recountv1.SnapshotsRetired{Repository: repo.repo, Before: day(rng.IntN(len(repo.commits) + 1))})
			}
		}
	}
	return shards
}

// day returns the time of a history's nth commit.
func day(n int) *timestamppb.Timestamp { return timestamppb.New(time.Unix(int64(n)*86400, 0)) }

func TestProjection(t *testing.T) {
	projtest.Run(t, projtest.Config{
		Kind: Kind(toyOptions()), Generate: generate, Records: 60, Crashes: 4,
		Change: func(r *recountv1.Record) bool {
			c := r.GetCommit()
			if c == nil {
				return false
			}
			c.Message += " differently"
			return true
		},
	})
}

// TestIncrementsEqualFull checks that every snapshot derived from the previous one equals the one
// built from its files alone.
func TestIncrementsEqualFull(t *testing.T) {
	shard := projtest.Shard{TP: schemas.TopicPartition{Topic: "recount.commits"}}
	h := newHistory(rand.New(rand.NewPCG(7, 7)), &shard, "acme/shop")
	for range 60 {
		h.commit()
	}
	grown := open(t)
	if err := grown.Apply(t.Context(), shard.Batch(0, shard.Next)); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(h.commits); i += 7 {
		commit := h.commits[i]
		alone := open(t)
		fresh := projtest.Shard{TP: shard.TP}
		var was *recountv1.CommitRecorded
		for _, r := range shard.Records {
			if c := r.GetCommit(); c.GetCommit() == commit {
				was = c
			}
			if r.GetFileFacts() != nil {
				fresh.Records = append(fresh.Records, r)
			}
		}
		m := &recountv1.CommitRecorded{Repository: h.repo, Commit: commit, Parents: was.Parents, Scope: recountv1.Scope_SCOPE_FULL}
		for _, path := range slices.Sorted(maps.Keys(h.files[commit])) {
			m.Changes = append(m.Changes, &recountv1.FileChange{Path: path, Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: h.files[commit][path]})
		}
		fresh.Next = shard.Next
		again := newHistory(nil, &fresh, h.repo)
		again.n = h.n
		again.add(m)
		if err := alone.Apply(t.Context(), fresh.Batch(0, fresh.Next)); err != nil {
			t.Fatal(err)
		}
		got, want := snapshotOf(t, grown, shard.TP, h.repo, commit), snapshotOf(t, alone, shard.TP, h.repo, commit)
		if got != want {
			t.Errorf("commit %d: snapshot %s after increments, %s from its files", i, got, want)
		}
	}
}

// TestASnapshotIsOfItsCommitAlone checks that a snapshot depends on the paths of its commit only,
// not on the paths under which the contents, or the commit, arrived first.
func TestASnapshotIsOfItsCommitAlone(t *testing.T) {
	const repo = "acme/shop"
	tp := schemas.TopicPartition{Topic: "recount.commits"}
	facts := func(path, blob string) *recountv1.FileFacts {
		f := &recountv1.FileFacts{Repository: repo, Path: path, Blob: blob, Size: 7, Language: toyLanguage(path)}
		if f.Language != "" {
			f.Declarations = []*recountv1.Declaration{{
				Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: "f", Start: &recountv1.Place{Line: 1}, End: &recountv1.Place{Line: 2},
			}}
		}
		return f
	}
	file := func(path, blob string) *recountv1.FileChange {
		return &recountv1.FileChange{Path: path, Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: blob}
	}
	vendored := func(size int64) *recountv1.FileChange {
		c := file("vendor/v.toy", id("vendored"))
		c.Skipped, c.Size = "vendored: vendor", size
		return c
	}
	text, empty, parent, commit := id("text"), id("empty"), id("parent"), id("commit")
	last := []*recountv1.FileChange{file("LICENSE.txt", text), file("new.toyi", empty), file("py.typed", empty)}
	commitOf := func(c string, scope recountv1.Scope, changes ...*recountv1.FileChange) *recountv1.CommitRecorded {
		m := &recountv1.CommitRecorded{Repository: repo, Commit: c, Scope: scope, Changes: changes}
		if c == commit {
			m.Parents = []string{parent}
		}
		return m
	}
	var hashes []string
	for _, bodies := range [][]any{
		{ // The commit is the base.
			facts("LICENSE.txt", text), facts("new.toyi", empty), facts("py.typed", empty),
			commitOf(commit, recountv1.Scope_SCOPE_FULL, append([]*recountv1.FileChange{vendored(1234)}, last...)...),
		},
		{ // Its contents came earlier under other names, and its paths had other contents.
			facts(".keep", empty), facts("old.toy", empty), facts("LICENSE", text),
			commitOf(parent, recountv1.Scope_SCOPE_FULL, file("LICENSE", text), file("old.toy", empty), file(".keep", empty), vendored(0)),
			commitOf(commit, recountv1.Scope_SCOPE_CHANGES, append([]*recountv1.FileChange{
				{Path: "LICENSE", Status: recountv1.ChangeStatus_CHANGE_STATUS_DELETED},
				{Path: "old.toy", Status: recountv1.ChangeStatus_CHANGE_STATUS_DELETED},
				{Path: ".keep", Status: recountv1.ChangeStatus_CHANGE_STATUS_DELETED},
			}, last...)...),
		},
	} {
		shard := projtest.Shard{TP: tp}
		h := newHistory(nil, &shard, repo)
		for _, b := range bodies {
			h.add(b)
		}
		c := open(t)
		if err := c.Apply(t.Context(), shard.Batch(0, shard.Next)); err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, snapshotOf(t, c, tp, repo, commit))
		for path, f := range filesOf(t, c, tp, repo, commit) {
			if path != "vendor/v.toy" && f.Skipped != "" {
				t.Errorf("%s is left out: %s", path, f.Skipped)
			}
			if f.Language != toyLanguage(path) && f.Skipped == "" {
				t.Errorf("%s is read as %q", path, f.Language)
			}
		}
	}
	if hashes[0] != hashes[1] {
		t.Errorf("snapshot %s as the base, %s after its parent", hashes[0], hashes[1])
	}
}

// TestPartsOfAnotherScopeDoNotMix sends a commit that was interrupted between its parts again, with
// more content.
func TestPartsOfAnotherScopeDoNotMix(t *testing.T) {
	const repo = "acme/shop"
	tp := schemas.TopicPartition{Topic: "recount.commits"}
	shard := projtest.Shard{TP: tp}
	h := newHistory(nil, &shard, repo)
	commit := id("commit")
	part := func(scope recountv1.Scope, part, parts int32, path string) *recountv1.CommitRecorded {
		return &recountv1.CommitRecorded{
			Repository: repo, Commit: commit, Scope: scope, Part: part, Parts: parts,
			Changes: []*recountv1.FileChange{{Path: path, Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: id("content")}},
		}
	}
	h.add(&recountv1.FileFacts{Repository: repo, Path: "a", Blob: id("content")})
	h.add(part(recountv1.Scope_SCOPE_METADATA, 0, 3, "by name 0"))
	h.add(part(recountv1.Scope_SCOPE_METADATA, 1, 3, "by name 1"))
	h.add(part(recountv1.Scope_SCOPE_FULL, 0, 2, "a"))
	h.add(part(recountv1.Scope_SCOPE_METADATA, 2, 3, "by name 2")) // from another importer
	h.add(part(recountv1.Scope_SCOPE_FULL, 1, 2, "b"))
	c := open(t)
	if err := c.Apply(t.Context(), shard.Batch(0, shard.Next)); err != nil {
		t.Fatal(err)
	}
	if got := slices.Sorted(maps.Keys(filesOf(t, c, tp, repo, commit))); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("files %q", got)
	}
}

// TestNamesThatAreTooLongAreCounted checks that entries too long for a map's key are counted as
// unresolved.
func TestNamesThatAreTooLongAreCounted(t *testing.T) {
	const repo = "acme/shop"
	tp := schemas.TopicPartition{Topic: "recount.commits"}
	shard := projtest.Shard{TP: tp}
	h := newHistory(nil, &shard, repo)
	facts := &recountv1.FileFacts{Repository: repo, Path: "a.toy", Blob: id("a"), Language: "toy"}
	at := func(line uint32) *recountv1.Place { return &recountv1.Place{Line: line} }
	for i := range 20 { // nested in the one before: the last chains have 4,096 bytes and more
		facts.Declarations = append(facts.Declarations, &recountv1.Declaration{
			Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: strings.Repeat("x", 255) + string(rune('a'+i)), Owner: uint32(i),
			Start: at(uint32(i + 1)), End: at(100),
		})
	}
	// The tenth calls the ninth: both have nodes, but together they are too long for a key.
	facts.References = []*recountv1.Reference{{Edge: recountv1.EdgeKind_EDGE_KIND_CALLS, In: 10, Path: facts.Declarations[8].Name, At: at(50)}}
	h.add(facts)
	commit := id("commit")
	h.add(&recountv1.CommitRecorded{Repository: repo, Commit: commit, Scope: recountv1.Scope_SCOPE_FULL, Changes: []*recountv1.FileChange{
		{Path: "a.toy", Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: id("a")},
	}})
	c := open(t)
	if err := c.Apply(t.Context(), shard.Batch(0, shard.Next)); err != nil {
		t.Fatal(err)
	}
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	s, err := v.Snapshot(RepoID{tp, repo}, commit)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := s.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	unresolved, err := s.Unresolved()
	if err != nil {
		t.Fatal(err)
	}
	missing, call := 0, false
	for e, err := range unresolved.All() {
		if err != nil {
			t.Fatal(err)
		}
		from, kind, _, _ := cutEdge(e.Key)
		if from.Path() != "a.toy" {
			t.Errorf("unresolved %q", e.Key)
		}
		if kind == recountv1.EdgeKind_EDGE_KIND_CONTAINS {
			missing++
		}
		call = call || kind == recountv1.EdgeKind_EDGE_KIND_CALLS && strings.HasSuffix(string(e.Key), "\x0050:0")
	}
	// The nodes are 20 declarations and the file.
	if nodes.Len() >= 21 || int(nodes.Len())+missing < 21 || !call {
		t.Errorf("%d nodes, %d left out, the call %t", nodes.Len(), missing, call)
	}
}

// TestAFileIsWhatItsContentSays checks that the content of a YAML manifest decides its language,
// although commits know only its path.
func TestAFileIsWhatItsContentSays(t *testing.T) {
	const repo = "acme/shop"
	tp := schemas.TopicPartition{Topic: "recount.commits"}
	shard := projtest.Shard{TP: tp}
	h := newHistory(nil, &shard, repo)
	h.add(&recountv1.FileFacts{Repository: repo, Path: "a.yaml", Blob: id("a"), Language: "toy", Declarations: []*recountv1.Declaration{
		{Kind: recountv1.SymbolKind_SYMBOL_KIND_RESOURCE, Name: "web", Start: &recountv1.Place{Line: 1}, End: &recountv1.Place{Line: 1}},
	}})
	commit := id("commit")
	h.add(&recountv1.CommitRecorded{Repository: repo, Commit: commit, Scope: recountv1.Scope_SCOPE_FULL, Changes: []*recountv1.FileChange{
		{Path: "a.yaml", Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: id("a")},
	}})
	c := open(t)
	if err := c.Apply(t.Context(), shard.Batch(0, shard.Next)); err != nil {
		t.Fatal(err)
	}
	f := filesOf(t, c, tp, repo, commit)["a.yaml"]
	if f.GetLanguage() != "toy" || f.GetSkipped() != "" {
		t.Fatalf("a.yaml: %v", f)
	}
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	s, err := v.Snapshot(RepoID{tp, repo}, commit)
	if err != nil {
		t.Fatal(err)
	}
	if facts, err := s.Facts(f); err != nil || len(facts.GetFacts().GetDeclarations()) != 1 {
		t.Errorf("facts of a.yaml: %v %v", facts, err)
	}
	nodes, err := s.Nodes()
	if err != nil {
		t.Fatal(err)
	}
	if nodes.Len() != 2 {
		t.Errorf("%d nodes, want the file and what it declares", nodes.Len())
	}
}

func filesOf(t *testing.T, c *Code, tp schemas.TopicPartition, repo, commit string) map[string]*recountv1.CodeFile {
	t.Helper()
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	s, err := v.Snapshot(RepoID{tp, repo}, commit)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*recountv1.CodeFile{}
	for e, err := range m.All() {
		if err != nil {
			t.Fatal(err)
		}
		f := &recountv1.CodeFile{}
		if err := proto.Unmarshal(e.Value, f); err != nil {
			t.Fatal(err)
		}
		files[string(e.Key)] = f
	}
	return files
}

// panicking is a resolver with a bug.
type panicking struct{ toy }

func (panicking) Resolve(_ context.Context, t resolve.Tree, _ resolve.Change) ([]resolve.FileGraph, error) {
	if t.Repository() == "acme/bad" {
		panic("index out of range")
	}
	return nil, nil
}

func TestAResolversBugStopsNoOtherRepository(t *testing.T) {
	shard := projtest.Shard{TP: schemas.TopicPartition{Topic: "recount.commits"}}
	rng := rand.New(rand.NewPCG(5, 5))
	newHistory(rng, &shard, "acme/bad").add(&recountv1.CommitRecorded{Repository: "acme/bad", Commit: id("bad"), Scope: recountv1.Scope_SCOPE_FULL})
	bad := shard.Records[len(shard.Records)-1]
	c, err := Open(t.TempDir(), Options{Language: toyLanguage, Resolvers: func() []resolve.Resolver { return []resolve.Resolver{panicking{}} }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = c.Apply(t.Context(), shard.Batch(0, shard.Next))
	var refused *projections.RecordError
	if !errors.As(err, &refused) || refused.Position != schemas.PositionOf(bad.Origin) {
		t.Fatalf("got %v, want the commit at %s refused", err, schemas.PositionOf(bad.Origin))
	}
	shard.Records = shard.Records[:len(shard.Records)-1]
	good := newHistory(rng, &shard, "acme/good")
	good.commit()
	if err := c.Apply(t.Context(), shard.Batch(0, shard.Next)); err != nil {
		t.Fatal(err)
	}
	snapshotOf(t, c, shard.TP, "acme/good", good.commits[0])
}

func open(t *testing.T) *Code {
	t.Helper()
	c, err := Open(t.TempDir(), toyOptions())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		v, err := c.View()
		if err != nil {
			t.Fatal(err)
		}
		checked, faults, err := v.Check(context.Background(), nil)
		v.Close()
		if err != nil || len(faults) > 0 || checked.Snapshots == 0 {
			t.Errorf("check: %+v: %v %v", checked, faults, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func snapshotOf(t *testing.T, c *Code, tp schemas.TopicPartition, repo, commit string) string {
	t.Helper()
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	s, err := v.Snapshot(RepoID{tp, repo}, commit)
	if err != nil {
		t.Fatal(err)
	}
	return s.Hash().String()
}

var _ projections.Projection = (*Code)(nil)
