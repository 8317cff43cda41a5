package commands

import (
	"context"

	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/question"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Question is one kind of query about commands.
type Question[Q, R any] = question.Question[Sources, Q, R]

// Questions lists all of them, in the order below.
var Questions question.List[Sources]

func newQuestion[Q interface{ Normal() (Q, error) }, R any](name, summary, description string, answer func(context.Context, Sources, Q) (R, error)) Question[Q, R] {
	check := func(r Q) error {
		_, err := r.Normal()
		return err
	}
	return question.Add(&Questions, question.New(name, summary, description, check, answer))
}

// The queries about commands. docs/ARCHITECTURE.md says what else a new one needs.
var (
	FindQuestion     = newQuestion("find", "Find commands", "Finds commands by words, concepts and meaning, with filters. The proof shows how the answer was computed.", Find)
	SearchQuestion   = newQuestion("search", "Find commands while typing", "Finds commands by what was typed of them so far, by meaning, or both, each with the number of its runs: from an index of distinct commands in memory, for one question a keystroke.", Search)
	AroundQuestion   = newQuestion("around", "Show the circumstances of a command", "Returns what ran before and after a command in its session, the end of its output, what led to its failure and what fixed it, and how often it works.", Around)
	WhyQuestion      = newQuestion("why", "Find what led to a command", "Follows the edges of the narrative backwards from a command and ranks the commands that led to it, each with its path, edges and evidence.", Why)
	StitchQuestion   = newQuestion("stitch", "Show the narrative around a command", "Follows edges in both directions from a command and returns the commands found, in chronological order, and the edges between them.", Stitch)
	DiffQuestion     = newQuestion("diff", "Compare two narratives", "Aligns the commands that led to two commands: what is common, what changed and how, what only one of them has, and a verdict if their outcomes differ.", Diff)
	InsightsQuestion = newQuestion("insights", "What recurs", "Counts recurring templates, sequences and failures among the commands that pass the filters, and suggests what usually comes next.", Insights)
	TimelineQuestion = newQuestion("timeline", "List the commands of a time range, to draw them", "Returns the newest commands that pass the filters as columns: when they started, how long they took, how they ended, and who ran them in which session.", Timeline)
	StatsQuestion    = newQuestion("stats", "Count commands", "Counts the commands that pass the filters: by day, hour and weekday, by program, template and directory, by people and agents, with outcomes and durations.", Stats)
)

// What find is asked and answers, from package ask.
type (
	FindRequest  = ask.FindRequest
	FindResponse = ask.FindResponse
	Filters      = ask.Filters
	Variant      = ask.Variant
	Intent       = ask.Intent
	Hit          = ask.Hit
)

// What the queries about narratives are asked and answer.
type (
	Walk             = ask.Walk
	Edge             = ask.Edge
	EdgeEvidence     = ask.EdgeEvidence
	WhyRequest       = ask.WhyRequest
	WhyResponse      = ask.WhyResponse
	Cause            = ask.Cause
	StitchRequest    = ask.StitchRequest
	StitchResponse   = ask.StitchResponse
	Node             = ask.Node
	DiffRequest      = ask.DiffRequest
	DiffResponse     = ask.DiffResponse
	DiffLine         = ask.DiffLine
	Change           = ask.Change
	InsightsRequest  = ask.InsightsRequest
	InsightsResponse = ask.InsightsResponse
	TemplateStat     = ask.TemplateStat
	SequenceStat     = ask.SequenceStat
	FailureCluster   = ask.FailureCluster
	Suggestion       = ask.Suggestion
)

// What show answers, and what is known of replays.
type (
	ShowResponse       = ask.ShowResponse
	Detail             = ask.Detail
	Token              = ask.Token
	Resource           = ask.Resource
	RawEvent           = ask.RawEvent
	Replays            = ask.Replays
	ReplayedAs         = ask.ReplayedAs
	ReplayDiffRequest  = ask.ReplayDiffRequest
	ReplayDiffResponse = ask.ReplayDiffResponse
	ReplayedStep       = ask.ReplayedStep
	ReplayDifference   = ask.ReplayDifference
	ReplayedFile       = ask.ReplayedFile
)

// What stats is asked and answers.
type (
	StatisticsRequest  = ask.StatisticsRequest
	StatisticsResponse = ask.StatisticsResponse
	Tally              = ask.Tally
	DayTally           = ask.DayTally
	Ranking            = ask.Ranking
	NamedTally         = ask.NamedTally
)

// Limits of a request. They are part of the API.
const (
	MaxLimit     = ask.MaxLimit
	DefaultDepth = ask.DefaultDepth
	MaxDepth     = ask.MaxDepth
	MaxNodes     = ask.MaxNodes
)

// The values of DiffLine.Way.
const (
	DiffCommon  = ask.DiffCommon
	DiffChanged = ask.DiffChanged
	DiffOnlyA   = ask.DiffOnlyA
	DiffOnlyB   = ask.DiffOnlyB
)

// States of a file after a replay, compared with the recorded run.
const (
	FileSame      = ask.FileSame
	FileOther     = ask.FileOther
	FileMissing   = ask.FileMissing
	FileUnchanged = ask.FileUnchanged
	FileUnknown   = ask.FileUnknown
	FileOnly      = ask.FileOnly
)

// CategoryName returns the name of a category in requests and answers: "build".
func CategoryName(c recountv1.Category) string { return ask.CategoryName(c) }
