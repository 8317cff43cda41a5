// Package commits makes events of what git records, and appends them: each
// file's content once (`source.revised`), then the commit that brought it
// (`commit.recorded`), and where branches, tags and HEAD point (`ref.moved`).
//
// What a caller may rely on:
//
//   - Imported twice is once. An event's id is a hash of what it is: of a content
//     the repository, the blob and how its path says that it is read; of a commit
//     its id and scope. It depends neither on the clone nor on the run.
//   - A commit's event comes after the contents that it names and after its
//     parents' events, all under one key, so in one partition and in this order. An
//     import that is cut short leaves a prefix, and the next one goes on from it.
//   - Every commit that has a graph has what it needs. One commit, the base, comes
//     whole (SCOPE_FULL); those before it by name only (SCOPE_METADATA); those
//     after it as changes from their first parent (SCOPE_CHANGES). Where the first
//     parent has no content on the log, or the rules of what is left out changed
//     with the commit, it comes whole.
//   - A commit may come again with another scope: with more history, or after
//     State was lost. Whoever applies the events lets the one with content hold.
//   - What is left out says why: the table is in skip.go.
//   - What a clone lacks stops nothing: a content is left out as missing, a commit
//     without trees comes by name only, and the report says how much that is.
//   - Memory is bounded by the changes of one commit, what git.History reads ahead,
//     three batches, 48 bytes a content and 40 bytes a commit that is new.
//
// What is known already is in State, a cache beside the log.
package commits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Options say what to import and how.
type Options struct {
	// Repository is its name, the key of its events. Required.
	Repository string
	// History is how many commits back along first parents the base lies; -1 is
	// what it was, or 0: HEAD. Once there is a base it moves back only.
	History int
	// All takes every branch, local and remote; else HEAD, and the branches that
	// were on the log before.
	All bool
	// WorkingTree records the state of the working tree above HEAD, too.
	WorkingTree bool
	// Language names the language of a path, "" where it is not known. Required.
	Language func(path string) string
	// Limits of contents. Required.
	Limits Limits
	// Append appends events in order. Required.
	Append func(ctx context.Context, events []schemas.Event) (Appended, error)
	// Redact takes secrets out of a commit's message and says how many there were;
	// nil leaves it.
	Redact func(*recountv1.CommitRecorded) int
	// RedactFile takes secrets out of a file's content and says what and where; nil leaves
	// files as they are. Ids are those of git all the same.
	RedactFile func(content []byte) ([]byte, []*recountv1.Redaction)
	// Now is the time, for refs whose own is not known. Required.
	Now func() time.Time
	// Progress is told how many commits of how many are done, and how many files;
	// nil for nobody.
	Progress func(done, of, files int64)
}

// Limits of contents, in bytes.
type Limits struct {
	// Content is the largest file that is read.
	Content int64
	// Event is the largest payload of an event.
	Event int
}

// Appended is what became of a batch.
type Appended struct {
	// Present is how many events the log had before.
	Present int64
	// Last is where the last of them stands.
	Last *schemas.Position
}

// Report is what an import did.
type Report struct {
	Repository string `json:"repository"`
	Path       string `json:"path"`
	Head       string `json:"head,omitempty"`
	Base       string `json:"base,omitempty"`
	// Commits that were new, by how much of them was recorded.
	Commits struct {
		Full     int64 `json:"full"`
		Changes  int64 `json:"changes"`
		Metadata int64 `json:"metadata"`
	} `json:"commits"`
	// Files are contents that were appended, Bytes their size in git.
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
	// Skipped counts the changes whose content was left out, by reason.
	Skipped map[string]int64 `json:"skipped,omitempty"`
	// Missing is what the clone lacks.
	Missing Missing `json:"missing,omitzero"`
	Refs    int64   `json:"refs_moved"`
	// WorkingTree is the id of the working tree's state, if it was recorded.
	WorkingTree string `json:"working_tree,omitempty"`
	// Appended and Present count events.
	Appended int64 `json:"appended"`
	Present  int64 `json:"already_there"`
	Redacted int64 `json:"secrets_redacted"`
	// RedactedFiles are the first files that secrets were taken out of, with the lines.
	RedactedFiles []string `json:"redacted_files,omitempty"`
	Problems      []string `json:"problems,omitempty"`
}

// Missing is what a clone lacks: one that is partial, or was made without all of its
// objects. The rest of it is recorded.
type Missing struct {
	// Files are contents, which the commits that brought them name as left out.
	Files int64 `json:"files,omitempty"`
	// Renames are commits of which only exact renames are known.
	Renames int64 `json:"renames,omitempty"`
	// Commits are those of which only who, when and why is known, as their trees are
	// missing.
	Commits int64 `json:"commits,omitempty"`
	// First are the first files and commits of these.
	First []string `json:"first,omitempty"`
}

// maxMissing bounds Missing.First.
const maxMissing = 5

// maxProblems bounds Report.Problems and Report.RedactedFiles.
const maxProblems = 20

// ErrNoCommits: the repository has none yet.
var ErrNoCommits = errors.New("no commits yet")

// importer is one import under way.
type importer struct {
	repo   *git.Repo
	o      Options
	state  *State
	report Report
	feed   *feed
	last   *schemas.Position

	objects *git.Objects
	// recorded are the commits of this run that have their content on the log.
	recorded map[commitKey]struct{}
	// before remembers answers of whether a commit lies before the base.
	before map[string]bool
	rules  map[string]attributes
	// missing are contents that the clone lacks, lacking commits without their trees.
	missing map[seenKey]struct{}
	lacking map[commitKey]struct{}
	done    int64
	total   int64
}

// commitKey is the first 20 bytes of a commit's id, of SHA-256 too.
type commitKey [20]byte

// Import brings the log up to date with a repository. After an error what came
// before is on the log, and the report says what; importing again goes on.
func Import(ctx context.Context, repo *git.Repo, state *State, o Options) (Report, error) {
	im := &importer{
		repo: repo, o: o, state: state, last: state.Last,
		recorded: map[commitKey]struct{}{}, before: map[string]bool{}, rules: map[string]attributes{},
		missing: map[seenKey]struct{}{}, lacking: map[commitKey]struct{}{},
	}
	im.report = Report{Repository: o.Repository, Path: repo.Root(), Skipped: map[string]int64{}}
	im.objects = repo.Objects(ctx)
	im.feed = im.newFeed(ctx)
	err := im.run(ctx)
	// What is complete goes to the log, also where the rest failed.
	cerr := im.feed.close(context.WithoutCancel(ctx))
	if err == nil || cerr != nil && errors.Is(err, cerr) {
		err = cerr
	} else {
		err = errors.Join(err, cerr)
	}
	// Of processes that the context ended, how they ended is no news.
	oerr := im.objects.Close()
	if ctx.Err() != nil {
		return im.report, errors.Join(ctx.Err(), cerr)
	}
	if err != nil {
		return im.report, fmt.Errorf("import %s: %w", o.Repository, err)
	}
	return im.report, oerr
}

func (im *importer) run(ctx context.Context) error {
	p, err := im.plan(ctx)
	if err != nil {
		return err
	}
	im.report.Head, im.report.Base = p.head.Commit, im.state.Base
	im.feed.completed() // the base stands: what comes of it is remembered from now on
	if err := im.count(ctx, p); err != nil {
		return err
	}
	if !im.state.BaseDone {
		if err := im.walk(ctx, p.beforeBase, im.state.Heads, im.metadata); err != nil {
			return err
		}
		if err := im.base(ctx); err != nil {
			return err
		}
	}
	if p.deepen != "" {
		if err := im.deepen(ctx, p); err != nil {
			return err
		}
	}
	if err := im.walk(ctx, p.tips, im.known(), im.content); err != nil {
		return err
	}
	im.state.Shallow = p.shallow
	im.feed.completed()
	if err := im.refs(ctx, p); err != nil {
		return err
	}
	if im.o.WorkingTree {
		return im.workingTree(ctx, p.head.Commit)
	}
	return nil
}

// known are commits that are recorded with all before them.
func (im *importer) known() []string {
	ids := slices.Clone(im.state.Heads)
	if im.state.BaseDone {
		ids = append(ids, im.state.Base)
	}
	return ids
}

// walk records the commits that are reachable from some and not from others.
func (im *importer) walk(ctx context.Context, from, not []string, record func(context.Context, git.Entry) error) error {
	return im.repo.History(ctx, from, slices.Clone(not), func(c git.Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := record(ctx, c); err != nil {
			return err
		}
		if len(c.Commit.Parents) == 0 && !slices.Contains(im.state.Roots, c.ID) {
			im.state.Roots = append(im.state.Roots, c.ID)
		}
		im.state.Heads = append(slices.DeleteFunc(im.state.Heads, func(h string) bool { return slices.Contains(c.Parents, h) }), c.ID)
		im.state.Lacking = slices.DeleteFunc(im.state.Lacking, func(l string) bool { return !slices.Contains(im.state.Heads, l) })
		im.feed.completed()
		im.step()
		return nil
	})
}

// step counts a commit.
func (im *importer) step() {
	im.done++
	im.progress()
}

func (im *importer) progress() {
	if im.o.Progress != nil {
		im.o.Progress(im.done, max(im.total, im.done), im.report.Files)
	}
}

// lacks counts something that the clone lacks, and names it if it is among the first.
func (im *importer) lacks(counter *int64, name string) {
	*counter++
	if m := &im.report.Missing; len(m.First) < maxMissing {
		m.First = append(m.First, strings.ToValidUTF8(name, "?"))
	}
}

func (im *importer) problem(format string, args ...any) {
	if len(im.report.Problems) < maxProblems {
		im.report.Problems = append(im.report.Problems, fmt.Sprintf(format, args...))
	}
}
