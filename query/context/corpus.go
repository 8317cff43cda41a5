package context

import (
	"context"
	"encoding/hex"
	"path"
	"strings"
	"sync"

	"github.com/recountdb/recount/projections/cache"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// corpus has the files of one snapshot in the form that the channels rank. It is immutable.
type corpus struct {
	hash  schemas.Hash
	files []file
	// byPath has their indexes, and byBase those of each last element of a path.
	byPath map[string]int32
	byBase map[string][]int32
	// byStem has the indexes of the files with a stem.
	byStem map[string][]int32
	// ofNode is the file of each symbol of the study, -1 for packages and unknown ones.
	ofNode []int32
	// declared marks the symbols that are no files and no packages.
	declared []bool
	// users are the numbers of edges by which others use each symbol.
	users  []int32
	length float64 // the mean length of the documents
	read   int     // the number of files with words
	graph  *fileGraph
	names  *nameTable
	past   *past
	words  *postings
	// others is the mean evidence of texts of other repositories.
	others evidence
	bytes  int
}

// file is one file of a corpus.
type file struct {
	code.FileState
	*document
	test bool
	// noise marks what a person seldom means: generated, vendored, locked or minified files.
	noise bool
	// prose and aside are what prosePath and asidePath say of the path.
	prose, aside bool
	// from and to are its symbols in the study.
	from, to int32
	pathTerm []term
	stem     string // the last element of its path without its extension and marks of a test
	dirs     []string
}

// Cache keeps what questions derive from snapshots: documents of contents, corpora of the last few
// snapshots. It is safe for concurrent use.
type Cache struct {
	mu        sync.Mutex
	documents *cache.Map[string, *document] // by language and blob
	commits   *cache.Map[string, *commitWords]
	contents  *cache.Map[string, []byte]
	corpora   []*corpus // most recently used first
	// building has the snapshots whose corpora are being built.
	building map[schemas.Hash]chan struct{}
	// words is nil while a corpus is built with it.
	words *splitter
}

// These are the limits of a cache in bytes, and its number of corpora. The newest corpus is kept,
// however large.
const (
	documentBytes = 96 << 20
	commitBytes   = 32 << 20
	contentBytes  = 16 << 20
	corpusBytes   = 192 << 20
	maxCorpora    = 4
)

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{
		documents: cache.New[string, *document](documentBytes), commits: cache.New[string, *commitWords](commitBytes),
		contents: cache.New[string, []byte](contentBytes), words: newSplitter(), building: map[schemas.Hash]chan struct{}{},
	}
}

// Content identifies the content of a file.
type Content struct {
	// At is the event that holds it.
	At schemas.Position
	// Blob is git's object id in hex.
	Blob string
}

// corpusOf returns the corpus of a study's snapshot, and builds it if it is not cached. Concurrent
// callers for the same snapshot wait.
func (c *Cache) corpusOf(ctx context.Context, st *code.Study, s Sources) (*corpus, error) {
	hash := st.Hash()
	for {
		c.mu.Lock()
		x := c.kept(hash)
		wait, busy := c.building[hash]
		if x == nil && !busy {
			wait = make(chan struct{})
			c.building[hash] = wait
		}
		c.mu.Unlock()
		switch {
		case x != nil:
			return x, nil
		case !busy:
			x, err := c.build(ctx, st, s)
			c.built(hash, x, wait)
			return x, err
		}
		select {
		case <-wait: // either it is cached now, or the other question failed: try again
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// kept returns a cached corpus, nil if there is none. The caller holds mu.
func (c *Cache) kept(hash schemas.Hash) *corpus {
	for i, x := range c.corpora {
		if x.hash == hash {
			copy(c.corpora[1:i+1], c.corpora[:i])
			c.corpora[0] = x
			return x
		}
	}
	return nil
}

// built ends a build; x is nil if it failed.
func (c *Cache) built(hash schemas.Hash, x *corpus, wait chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.building, hash)
	close(wait)
	if x == nil {
		return
	}
	all, total := []*corpus{x}, x.bytes
	for _, other := range c.corpora {
		if total += other.bytes; len(all) == maxCorpora || total > corpusBytes {
			break
		}
		all = append(all, other)
	}
	c.corpora = all
}

// splitter takes the splitter, or makes one if a build has it; returned gives it back.
func (c *Cache) splitter() *splitter {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.words
	if c.words = nil; s == nil {
		s = newSplitter()
	}
	return s
}

func (c *Cache) returned(s *splitter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.words = s
}

func (c *Cache) build(ctx context.Context, st *code.Study, s Sources) (*corpus, error) {
	words := c.splitter()
	defer c.returned(words)
	states, err := st.Files()
	if err != nil {
		return nil, err
	}
	x := &corpus{hash: st.Hash(), byPath: make(map[string]int32, len(states)), byBase: map[string][]int32{}, byStem: map[string][]int32{}}
	ahead, err := c.ahead(ctx, st, s, words, states)
	if err != nil {
		return nil, err
	}
	total := 0.0
	for i, f := range states {
		if i&0xff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d := ahead[f.Language+"\x00"+f.Blob]
		if d == nil {
			if d, err = c.document(ctx, st, s, words, f); err != nil {
				return nil, err
			}
		}
		base := path.Base(f.Path)
		x.byPath[f.Path] = int32(i)
		x.byBase[base] = append(x.byBase[base], int32(i))
		x.files = append(x.files, fileOf(words, f, d))
		stem := x.files[i].stem
		x.byStem[stem] = append(x.byStem[stem], int32(i))
		total += d.length
		if d.length > 0 {
			x.read++
		}
	}
	x.length = max(1, total/max(1, float64(len(states))))
	x.words = postingsOf(x.files)
	x.place(st)
	x.graph = joinFiles(st, x)
	x.names = namesOf(st)
	if x.past, err = c.pastOf(st, x, words); err != nil {
		return nil, err
	}
	x.others = x.ofOthers()
	x.measure()
	return x, nil
}

// measure estimates the memory of a corpus, its documents included although others may share them.
func (x *corpus) measure() {
	x.bytes = x.words.bytes() + 9*len(x.ofNode) + 12*len(x.graph.links) + 40*len(x.names.lower)
	for i := range x.files {
		x.bytes += x.files[i].document.bytes() + 400
	}
	for i := range x.past.commits {
		x.bytes += 64 + 8*len(x.past.commits[i].files)
	}
}

// place finds the symbols of each file. Symbols are in key order, so those of a file are adjacent.
func (x *corpus) place(st *code.Study) {
	x.ofNode, x.declared = make([]int32, st.Len()), make([]bool, st.Len())
	at, last := int32(-1), ""
	x.users = make([]int32, st.Len())
	for n := range x.ofNode {
		x.users[n] = int32(st.Users(int32(n)))
		x.declared[n] = st.Chain(int32(n)) != ""
		if p := st.Path(int32(n)); n == 0 || p != last {
			last, at = p, -1
			if i, ok := x.byPath[p]; ok {
				at = i
				x.files[i].from = int32(n)
			}
		}
		if x.ofNode[n] = at; at >= 0 {
			x.files[at].to = int32(n) + 1
			x.files[at].test = x.files[at].test || st.Test(int32(n)) && st.Chain(int32(n)) == ""
		}
	}
}

// document returns the document of a file.
func (c *Cache) document(ctx context.Context, st *code.Study, s Sources, words *splitter, f code.FileState) (*document, error) {
	if f.Skipped != "" {
		return &document{}, nil
	}
	key := f.Language + "\x00" + f.Blob
	c.mu.Lock()
	d, ok := c.documents.Get(key)
	c.mu.Unlock()
	if ok {
		return d, nil
	}
	facts, at, err := st.Facts(f)
	if err != nil {
		return nil, err
	}
	if facts == nil {
		return &document{}, nil
	}
	content, err := s.content(ctx, facts, at, f)
	if err != nil {
		return nil, err
	}
	return c.made(words, key, content, facts), nil
}

// made makes a document and caches it.
func (c *Cache) made(words *splitter, key string, content []byte, facts *recountv1.FileFacts) *document {
	d := documentOf(words, content[:min(len(content), maxContent)], facts)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.documents.Put(key, d, d.bytes())
	c.documents.Trim()
	return d
}

// ahead returns documents of files whose contents are in the log alone and that are not cached, by
// language and blob. It reads these contents together, which takes a fraction of the time.
func (c *Cache) ahead(ctx context.Context, st *code.Study, s Sources, words *splitter, states []code.FileState) (map[string]*document, error) {
	if s.Contents == nil {
		return nil, nil
	}
	var wanted []Content
	files := map[schemas.Position]code.FileState{}
	for i, f := range states {
		if i&0xff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.mu.Lock()
		_, known := c.documents.Get(f.Language + "\x00" + f.Blob)
		c.mu.Unlock()
		if known || f.Skipped != "" {
			continue
		}
		facts, at, err := st.Facts(f)
		if err != nil {
			return nil, err
		}
		if _, twice := files[at]; facts == nil || len(facts.GetContentZstd()) > 0 || twice {
			continue
		}
		files[at] = f
		wanted = append(wanted, Content{at, hex.EncodeToString([]byte(f.Blob))})
	}
	if len(wanted) < leastAhead {
		return nil, nil
	}
	made := make(map[string]*document, len(wanted))
	err := s.Contents(ctx, wanted, func(of Content, content []byte) error {
		f, ok := files[of.At]
		if !ok {
			return nil
		}
		// They are read once more, since those of all files at once may be large.
		facts, _, err := st.Facts(f)
		if err != nil || facts == nil {
			return err
		}
		key := f.Language + "\x00" + f.Blob
		made[key] = c.made(words, key, content, facts)
		return nil
	})
	return made, err
}

// leastAhead is the number of files from which on their contents are read together.
const leastAhead = 4

// maxContent is the size in bytes beyond which the rest of a file does not count.
const maxContent = 400_000

// content returns the content of a file: from its facts if they have it, else from the log; nil if it
// is not there, for example because it was erased.
func (s Sources) content(ctx context.Context, facts *recountv1.FileFacts, at schemas.Position, f code.FileState) ([]byte, error) {
	if z := facts.GetContentZstd(); len(z) > 0 {
		if b, err := schemas.Decompress(z, 8<<20); err == nil {
			return b, nil
		}
	}
	if s.Content == nil {
		return nil, nil
	}
	return s.Content(ctx, Content{at, hex.EncodeToString([]byte(f.Blob))})
}

// lines returns the lines of a file, or nil if its content is not known.
func (c *Cache) lines(ctx context.Context, st *code.Study, s Sources, f code.FileState) ([]string, error) {
	// What was erased has no facts any more, whatever is cached.
	if known, err := st.HasFacts(f); err != nil || !known {
		return nil, err
	}
	key := st.Revision().Repo + "\x00" + f.Language + "\x00" + f.Blob
	c.mu.Lock()
	content, ok := c.contents.Get(key)
	c.mu.Unlock()
	if !ok {
		facts, at, err := st.Facts(f)
		if err != nil || facts == nil {
			return nil, err
		}
		if content, err = s.content(ctx, facts, at, f); err != nil || content == nil {
			return nil, err
		}
		c.mu.Lock()
		c.contents.Put(key, content, len(content)+64)
		c.contents.Trim()
		c.mu.Unlock()
	}
	return strings.Split(string(content), "\n"), nil
}

func fileOf(s *splitter, f code.FileState, d *document) file {
	x := file{FileState: f, document: d, test: testPath(f.Path), noise: f.Generated || noisy(f.Path), prose: prosePath(f.Path), aside: asidePath(f.Path)}
	s.each(f.Path, func(w wordTerms) {
		x.pathTerm = append(x.pathTerm, w.parts...)
		if w.whole != 0 {
			x.pathTerm = append(x.pathTerm, w.whole)
		}
	})
	x.stem = stemOf(path.Base(f.Path))
	if dir := path.Dir(f.Path); dir != "." {
		x.dirs = strings.Split(dir, "/")
	}
	return x
}
