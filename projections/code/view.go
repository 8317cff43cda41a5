package code

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// View is a consistent state of the projection. It is safe for concurrent use.
type View struct {
	*store.View
	c *Code
}

// View opens a view. The caller closes it.
func (c *Code) View() (*View, error) {
	v, err := c.DB.View()
	if err != nil {
		return nil, err
	}
	return &View{v, c}, nil
}

// RepoID identifies a repository by its partition and name.
type RepoID struct {
	TP   schemas.TopicPartition
	Name string
}

func (r RepoID) shard() []byte { return store.AppendShard(nil, r.TP) }

// These are the errors for names in queries.
var (
	// ErrUnknown means that there is no such repository, ref or commit.
	ErrUnknown = errors.New("unknown")
	// ErrNotImported is ErrUnknown for a repository, or a commit that is named by another.
	ErrNotImported = fmt.Errorf("%w", ErrUnknown)
	// ErrNoGraph means that the commit is known but has no graph.
	ErrNoGraph = errors.New("no graph")
)

// WhichRepository is what is ambiguous if several repositories were imported and none is named.
const WhichRepository = "which repository is meant"

// AmbiguousError reports a name that matches several things.
type AmbiguousError struct {
	What       string
	Candidates []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is ambiguous: %s", e.What, strings.Join(e.Candidates, ", "))
}

// Repositories returns the known repositories, ordered by name and partition.
func (v *View) Repositories() ([]RepoID, error) {
	var all []RepoID
	lower, upper := []byte{kindRepo}, []byte{kindRepo + 1}
	it, err := v.Iter(lower, upper)
	if err != nil {
		return nil, err
	}
	for ok := it.First(); ok; {
		tp, rest, good := store.ParseShard(it.Key()[1:])
		name, _, cut := bytes.Cut(rest, []byte{0})
		if !good || !cut {
			return nil, errors.Join(v.Damaged(fmt.Errorf("key %q", it.Key())), it.Close())
		}
		r := RepoID{tp, string(name)}
		all = append(all, r)
		ok = it.SeekGE(store.PrefixEnd(repoKey(r.shard(), r.Name)))
	}
	slices.SortFunc(all, func(a, b RepoID) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.TP.Partition, b.TP.Partition))
	})
	return all, v.Explain(it.Close())
}

// Repository finds a repository by its name or the last elements of it: "shop" finds
// github.com/acme/shop.
func (v *View) Repository(name string) (RepoID, error) {
	all, err := v.Repositories()
	if err != nil {
		return RepoID{}, err
	}
	var found []RepoID
	for _, r := range all {
		if r.Name == name {
			found = append(found, r)
		}
	}
	for _, r := range all {
		if len(found) == 0 || found[0].Name != name {
			if strings.HasSuffix(r.Name, "/"+name) || name == "" {
				found = append(found, r)
			}
		}
	}
	names := func(of []RepoID) (s []string) {
		for _, r := range of {
			s = append(s, r.Name)
		}
		return s
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1 && name == "":
		return RepoID{}, &AmbiguousError{WhichRepository, names(found)}
	case len(found) > 1:
		return RepoID{}, &AmbiguousError{fmt.Sprintf("repository %q", name), names(found)}
	case len(all) == 0:
		return RepoID{}, fmt.Errorf("repository %q: %w: no code was imported yet; run `recount import git PATH`", name, ErrNotImported)
	}
	return RepoID{}, fmt.Errorf("repository %q: %w; imported are %s", name, ErrNotImported, strings.Join(names(all), ", "))
}

// Refs returns a repository's refs by name.
func (v *View) Refs(r RepoID) (map[string]*recountv1.CodeRef, error) {
	refs := map[string]*recountv1.CodeRef{}
	prefix := about(r.shard(), r.Name, aboutRef)
	err := v.each(prefix, func(key, value []byte) error {
		ref := &recountv1.CodeRef{}
		refs[string(key[len(prefix):])] = ref
		return proto.Unmarshal(value, ref)
	})
	return refs, err
}

// Naming returns at most `most` commits whose messages name an issue, OWNER/REPO#NUMBER, ordered by
// object id.
func (v *View) Naming(r RepoID, issue string, most int) ([]*recountv1.CodeSnapshot, error) {
	prefix := issueKey(r.shard(), r.Name, issue)
	var keys [][]byte
	err := v.each(prefix, func(key, _ []byte) error {
		if len(keys) < most {
			keys = append(keys, commitKey(r.shard(), r.Name, key[len(prefix):]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]*recountv1.CodeSnapshot, len(keys))
	for i, key := range keys {
		if all[i], err = v.stored(key); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Commits calls yield with every known commit, ordered by object id.
func (v *View) Commits(r RepoID, yield func(*recountv1.CodeSnapshot) error) error {
	return v.each(about(r.shard(), r.Name, aboutCommit), func(_, value []byte) error {
		s := &recountv1.CodeSnapshot{}
		if err := proto.Unmarshal(value, s); err != nil {
			return v.Damaged(err)
		}
		return yield(s)
	})
}

// each calls use for the keys with a prefix.
func (v *View) each(prefix []byte, use func(key, value []byte) error) error {
	it, err := v.Iter(prefix, store.PrefixEnd(prefix))
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err == nil {
			err = use(it.Key(), value)
		}
		if err != nil {
			return errors.Join(v.Explain(err), it.Close())
		}
	}
	return v.Explain(it.Close())
}

// Commit returns a commit by its full object id in hex, or nil if it is not known.
func (v *View) Commit(r RepoID, commit string) (*recountv1.CodeSnapshot, error) {
	id, err := hex.DecodeString(commit)
	if err != nil {
		return nil, nil
	}
	return v.stored(commitKey(r.shard(), r.Name, id))
}

// WorkingTree returns the last known state of a working tree, or nil if there is none.
func (v *View) WorkingTree(r RepoID) (*recountv1.CodeSnapshot, error) {
	return v.stored(about(r.shard(), r.Name, aboutWorking))
}

func (v *View) stored(key []byte) (*recountv1.CodeSnapshot, error) {
	var s *recountv1.CodeSnapshot
	_, err := v.Get(key, func(value []byte) error {
		s = &recountv1.CodeSnapshot{}
		if err := proto.Unmarshal(value, s); err != nil {
			return v.Damaged(err)
		}
		return nil
	})
	return s, err
}

// Snapshot opens the graph at a revision (see Resolve).
func (v *View) Snapshot(r RepoID, rev string) (*Snapshot, error) {
	s, err := v.Resolve(r, rev)
	if err != nil {
		return nil, err
	}
	return v.Open(s)
}

// Open opens the graph of a commit that Commit or Commits returned. The error wraps ErrNoGraph if
// it has none.
func (v *View) Open(s *recountv1.CodeSnapshot) (*Snapshot, error) {
	if s.Maps == nil {
		mend := ""
		if s.Scope == recountv1.Scope_SCOPE_METADATA {
			mend = "; recount import git PATH --history N goes further back"
		}
		return nil, fmt.Errorf("commit %.12s of %s: %w: %s%s", s.Commit, s.Repository, ErrNoGraph, s.WithoutGraph, mend)
	}
	roots, err := decodeRoots(s.Maps)
	if err != nil {
		return nil, v.Damaged(err)
	}
	at := schemas.PositionOf(s.Position)
	return v.open(RepoID{at.TP(), s.Repository}, s, roots), nil
}

func (v *View) open(r RepoID, s *recountv1.CodeSnapshot, roots roots) *Snapshot {
	return &Snapshot{CodeSnapshot: s, repo: r, roots: roots, db: v.chunks(r), v: v}
}

// Snapshot is the graph at a commit. It reads the state of its view.
type Snapshot struct {
	*recountv1.CodeSnapshot
	repo  RepoID
	roots roots
	db    *prolly.DB
	v     *View
}

// Beside opens another graph in the snapshot's view.
func (s *Snapshot) Beside(other *recountv1.CodeSnapshot) (*Snapshot, error) { return s.v.Open(other) }

// Repo returns the snapshot's repository.
func (s *Snapshot) Repo() RepoID { return s.repo }

// Hash returns the hash of the whole snapshot.
func (s *Snapshot) Hash() schemas.Hash { return schemas.Hash(s.Snapshot) }

// Files and the methods below return the maps of a snapshot, which the package comment describes.
func (s *Snapshot) Files() (*prolly.Map, error)      { return s.open(FilesMap) }
func (s *Snapshot) Nodes() (*prolly.Map, error)      { return s.open(NodesMap) }
func (s *Snapshot) Out() (*prolly.Map, error)        { return s.open(OutMap) }
func (s *Snapshot) In() (*prolly.Map, error)         { return s.open(InMap) }
func (s *Snapshot) Externals() (*prolly.Map, error)  { return s.open(ExternalsMap) }
func (s *Snapshot) Users() (*prolly.Map, error)      { return s.open(UsersMap) }
func (s *Snapshot) Unresolved() (*prolly.Map, error) { return s.open(UnresolvedMap) }
func (s *Snapshot) Lines() (*prolly.Map, error)      { return s.open(LinesMap) }

// Range yields the entries of a map as prolly.Map.Range does. It uses a single iterator, for
// callers that read most of the map.
func (s *Snapshot) Range(w Which, from, to []byte) iter.Seq2[prolly.Entry, error] {
	return func(yield func(prolly.Entry, error) bool) {
		root, err := s.roots.root(w)
		if err != nil {
			yield(prolly.Entry{}, err)
			return
		}
		db, close, err := s.v.pass(s.repo, w)
		if err != nil {
			yield(prolly.Entry{}, err)
			return
		}
		defer close()
		m, err := db.Map(root)
		if err != nil {
			yield(prolly.Entry{}, err)
			return
		}
		m.Range(from, to)(yield)
	}
}

func (s *Snapshot) open(w Which) (*prolly.Map, error) {
	root, err := s.roots.root(w)
	if err != nil {
		return nil, err
	}
	return s.db.In(w.space()).Map(root)
}

// Read decodes the value of a key of a map, and reports whether the map has the key.
func (s *Snapshot) Read(w Which, key []byte, into proto.Message) (bool, error) {
	m, err := s.open(w)
	if err != nil {
		return false, err
	}
	value, ok, err := m.Get(key)
	if err != nil || !ok {
		return false, err
	}
	if err := proto.Unmarshal(value, into); err != nil {
		return false, s.v.Damaged(err)
	}
	return true, nil
}

// Changes returns the snapshot's files in the form of the event of a full commit.
func (s *Snapshot) Changes() ([]*recountv1.FileChange, error) {
	files, err := s.Files()
	if err != nil {
		return nil, err
	}
	var all []*recountv1.FileChange
	for e, err := range files.All() {
		if err != nil {
			return nil, err
		}
		f := &recountv1.CodeFile{}
		if err := proto.Unmarshal(e.Value, f); err != nil {
			return nil, s.v.Damaged(err)
		}
		all = append(all, &recountv1.FileChange{
			Path: string(e.Key), Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED,
			Mode: f.Mode, Blob: hex.EncodeToString(f.Blob), Size: f.Size, Skipped: f.Skipped,
		})
	}
	return all, nil
}

// Facts returns the facts of a file of the snapshot with the position of their event, or nil if
// there are none.
func (s *Snapshot) Facts(f *recountv1.CodeFile) (*recountv1.StoredFacts, error) {
	if f.GetSkipped() != "" {
		return nil, nil
	}
	var facts *recountv1.StoredFacts
	_, err := s.v.Get(factsKey(s.repo.shard(), s.repo.Name, f.Blob, f.Language), func(value []byte) (err error) {
		facts, _, err = decodeFacts(value)
		return err
	})
	return facts, err
}

// HasFacts reports whether Facts returns something, without decoding it.
func (s *Snapshot) HasFacts(f *recountv1.CodeFile) (bool, error) {
	if f.GetSkipped() != "" {
		return false, nil
	}
	return s.v.Get(factsKey(s.repo.shard(), s.repo.Name, f.Blob, f.Language), func([]byte) error { return nil })
}
