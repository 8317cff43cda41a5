// Package commits turns a git repository into events and appends them: each file's content once
// (`source.revised`), then the commit that introduced it (`commit.recorded`), and the targets of
// branches, tags and HEAD (`ref.moved`).
//
// A caller may rely on these properties:
//
//   - Importing twice has the effect of importing once. An event's id is a hash of its
//     subject: for a content the repository, the blob and the language its path implies;
//     for a commit its id and scope. It depends neither on the clone nor on the run.
//   - A commit's event follows the contents that it names and its parents' events, all
//     with one key, so in one partition and in this order. An import that is interrupted
//     leaves a prefix, and the next one continues from there.
//   - Every commit that has a graph has all that the graph needs. One commit, the base,
//     is recorded completely (SCOPE_FULL); those before it by names only
//     (SCOPE_METADATA); those after it as changes from their first parent
//     (SCOPE_CHANGES). If the first parent has no content on the log, or if the rules of
//     what is skipped changed with the commit, it is recorded completely.
//   - A commit may be recorded again with another scope: with more history, or after
//     State was lost. Consumers of the events must prefer the one with content.
//   - Skipped contents have a reason: the table is in skip.go.
//   - Objects missing in a clone do not stop an import: a content is skipped as missing,
//     a commit without trees is recorded by names only, and the report counts both.
//   - A branch that git cannot read does not stop the import of the others, unless it is
//     HEAD: its commits before the unreadable one are recorded, and the report names it.
//   - Memory is bounded by the changes of one commit, what git.History reads ahead, three
//     batches, 48 bytes per content and 40 bytes per new commit.
//
// State, a cache beside the log, holds what is known already.
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

// Options configure an import.
type Options struct {
	// Repository is its name, which is the key of its events. Required.
	Repository string
	// History is the number of commits from HEAD back to the base, along first parents; -1 means
	// the previous base, or 0 (HEAD) without one. An existing base only moves back.
	History int
	// All imports every branch, local and remote; otherwise HEAD is imported, and the branches that
	// were imported before.
	All bool
	// WorkingTree records the state of the working tree above HEAD, too.
	WorkingTree bool
	// Language returns the language of a path, "" if it is unknown. Required.
	Language func(path string) string
	// Unread returns the programming language of a path that no language reads, "" for all others;
	// nil: none.
	Unread func(path string) string
	// Limits limits the size of contents. Required.
	Limits Limits
	// Append appends events in order. Required.
	Append func(ctx context.Context, events []schemas.Event) (Appended, error)
	// Redact removes secrets from a commit's message and returns their number; nil leaves messages
	// unchanged.
	Redact func(*recountv1.CommitRecorded) int
	// RedactFile removes secrets from a file's content and returns what was removed and where; nil
	// leaves files unchanged. Ids are those of git in either case.
	RedactFile func(content []byte) ([]byte, []*recountv1.Redaction)
	// Now returns the current time, used for refs without a time of their own. Required.
	Now func() time.Time
	// Progress is called with the numbers of commits done, of commits in total, and of files; it
	// may be nil.
	Progress func(done, of, files int64)
}

// Limits limit contents, in bytes.
type Limits struct {
	// Content is the size of the largest file that is read.
	Content int64
	// Event is the maximum size of an event's payload.
	Event int
}

// Appended is the result of appending a batch.
type Appended struct {
	// Present is the number of events that the log had before.
	Present int64
	// Last is the position of the last of them.
	Last *schemas.Position
}

// Report is the result of an import.
type Report struct {
	Repository string `json:"repository"`
	Path       string `json:"path"`
	Head       string `json:"head,omitempty"`
	Base       string `json:"base,omitempty"`
	// Commits counts new commits by how much of them was recorded.
	Commits struct {
		Full     int64 `json:"full"`
		Changes  int64 `json:"changes"`
		Metadata int64 `json:"metadata"`
	} `json:"commits"`
	// Files counts the contents that were appended, Bytes their size in git.
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
	// Skipped counts the changes whose content was skipped, by reason.
	Skipped map[string]int64 `json:"skipped,omitempty"`
	// Unread counts the files that were recorded and are not read for symbols, by language.
	Unread map[string]int64 `json:"unread,omitempty"`
	// Missing counts what the clone lacks.
	Missing Missing `json:"missing,omitzero"`
	Refs    int64   `json:"refs_moved"`
	// WorkingTree is the id of the working tree's state, if it was recorded.
	WorkingTree string `json:"working_tree,omitempty"`
	// Appended and Present count events.
	Appended int64 `json:"appended"`
	Present  int64 `json:"already_there"`
	Redacted int64 `json:"secrets_redacted"`
	// RedactedFiles are the first files from which secrets were removed, with the lines.
	RedactedFiles []string `json:"redacted_files,omitempty"`
	Problems      []string `json:"problems,omitempty"`
}

// Missing counts what a clone lacks because it is partial or was made without all of its objects.
// Everything else is recorded.
type Missing struct {
	// Files counts contents, which the commits name as skipped.
	Files int64 `json:"files,omitempty"`
	// Renames counts commits of which only exact renames are known.
	Renames int64 `json:"renames,omitempty"`
	// Commits counts those recorded by message, people and times only, because their trees are
	// missing.
	Commits int64 `json:"commits,omitempty"`
	// First are the first of these files and commits.
	First []string `json:"first,omitempty"`
}

// maxMissing limits Missing.First.
const maxMissing = 5

// maxProblems limits Report.Problems and Report.RedactedFiles.
const maxProblems = 20

// ErrNoCommits means that the repository has no commits yet.
var ErrNoCommits = errors.New("no commits yet")

// importer is the state of one import.
type importer struct {
	repo   *git.Repo
	o      Options
	state  *State
	report Report
	feed   *feed
	last   *schemas.Position

	objects *git.Objects
	// recorded are the commits that were recorded with content in this run.
	recorded map[commitKey]struct{}
	// before caches whether a commit is before the base.
	before map[string]bool
	// unread are the paths that the report counts as unread.
	unread map[string]bool
	rules  map[string]attributes
	// missing are contents that the clone lacks, lacking are commits without their trees.
	missing map[seenKey]struct{}
	lacking map[commitKey]struct{}
	// unreadable are the tips that git cannot read with all their ancestors.
	unreadable map[string]bool
	done       int64
	total      int64
}

// commitKey is the first 20 bytes of a commit's id, also for SHA-256.
type commitKey [20]byte

// Import brings the log up to date with a repository. After an error everything before it is on the
// log, and the report covers it; importing again continues.
func Import(ctx context.Context, repo *git.Repo, state *State, o Options) (Report, error) {
	im := &importer{
		repo: repo, o: o, state: state, last: state.Last,
		recorded: map[commitKey]struct{}{}, before: map[string]bool{}, rules: map[string]attributes{},
		missing: map[seenKey]struct{}{}, lacking: map[commitKey]struct{}{}, unreadable: map[string]bool{},
	}
	im.report = Report{Repository: o.Repository, Path: repo.Root(), Skipped: map[string]int64{}}
	im.objects = repo.Objects(ctx)
	im.feed = im.newFeed(ctx)
	err := im.run(ctx)
	// Complete commits are appended even if the rest failed.
	cerr := im.feed.close(context.WithoutCancel(ctx))
	if err == nil || cerr != nil && errors.Is(err, cerr) {
		err = cerr
	} else {
		err = errors.Join(err, cerr)
	}
	// If the context ended the processes, their errors are ignored.
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
	im.feed.completed() // the base is decided: what follows from it is stored from now on
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
	if err := im.branches(ctx, p); err != nil {
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

// known returns the commits that are recorded with all their ancestors.
func (im *importer) known() []string {
	ids := slices.Clone(im.state.Heads)
	if im.state.BaseDone {
		ids = append(ids, im.state.Base)
	}
	return ids
}

// walk records the commits that are reachable from some commits and not from others.
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

// branches records the commits of all tips, or, if git cannot read some of them, tip by tip.
func (im *importer) branches(ctx context.Context, p plan) error {
	err := im.walk(ctx, p.tips, im.known(), im.content)
	if len(p.tips) == 1 || !git.Unreadable(err) {
		return err
	}
	for _, tip := range p.tips {
		err := im.walk(ctx, []string{tip}, im.known(), im.content)
		if err != nil && (tip == p.head.Commit || !git.Unreadable(err)) {
			return err
		}
		if err != nil {
			im.unreadable[tip] = true
			im.problem("%s cannot be read and is not imported: %v", p.branch(tip), err)
		}
	}
	return nil
}

// step counts a commit and reports progress.
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
