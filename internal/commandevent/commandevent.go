package commandevent

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/homedir"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/node"
)

// Details describe a command that ran. What is empty is taken from the environment and the
// directory.
type Details struct {
	Cwd, Workspace, Session, Shell, Author, Intent, GitHead, Parent string
	// ID is an id of the caller's own, "" to derive it.
	ID string
	// Env names the environment variables to record.
	Env []string
}

// New returns a command with the given details, and others from the environment.
func New(getenv func(string) string, f Details, text string) (*recountv1.CommandExecuted, error) {
	p := &recountv1.CommandExecuted{
		Command: recording.Clean(text), Workspace: f.Workspace, Cwd: f.Cwd, Session: f.Session, Shell: f.Shell,
		Author: f.Author, StatedIntent: f.Intent, GitHead: f.GitHead, ParentEventId: f.Parent,
		User: recording.UserName(getenv), Host: recording.HostName(),
	}
	if strings.TrimSpace(p.Command) == "" {
		return nil, usage.Errorf("the command is empty")
	}
	if p.Cwd == "" {
		p.Cwd, _ = os.Getwd() // empty if the directory was deleted
	} else if abs, err := filepath.Abs(p.Cwd); err == nil {
		p.Cwd = abs
	}
	if p.Session == "" {
		p.Session = getenv("RECOUNT_SESSION")
	}
	if p.Author == "" {
		p.Author = getenv("RECOUNT_AUTHOR")
	}
	if p.Shell == "" {
		p.Shell = filepath.Base(getenv("SHELL"))
		if p.Shell == "." {
			p.Shell = ""
		}
	}
	p.Home = homedir.Unusual(getenv("HOME"), p.User, p.Cwd)
	root := recording.Workspace(p.Cwd)
	if p.Workspace == "" {
		p.Workspace = root
	}
	if p.GitHead == "" {
		p.GitHead = recording.GitHead(root)
	}
	p.Env = recording.VariablesOf(getenv)
	for _, name := range f.Env {
		if p.Env == nil {
			p.Env = map[string]string{}
		}
		p.Env[name] = recording.Clean(getenv(name))
	}
	return p, nil
}

// Event returns the event of a command with secrets redacted, and the number of redactions.
func Event(cfg node.Config, p *recountv1.CommandExecuted, id string) (schemas.Event, int, error) {
	r, err := connect.Redactor(cfg)
	if err != nil {
		return schemas.Event{}, 0, err
	}
	found := r.Event(p)
	// Names on disk need not be text, and events are.
	for _, s := range []*string{&p.Workspace, &p.Cwd, &p.Home, &p.Session, &p.Shell, &p.Author, &p.User, &p.Host, &p.StatedIntent, &p.GitHead} {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	payload, err := schemas.EncodePayload(p)
	if err != nil {
		return schemas.Event{}, 0, err
	}
	e := schemas.Event{
		Type: schemas.TypeCommandExecuted, Source: recording.Source, Time: p.StartedAt.AsTime(),
		Key: schemas.KeyOf(p), ContentType: schemas.ContentJSON, Payload: payload,
	}
	if id != "" {
		e.ID = schemas.ProducerID(recording.Source, id)
	} else {
		// The id is derived from the fields, not from the JSON, whose white space may vary.
		e.ID = schemas.NewCanon("recount/cli/1").String(p.Command).String(p.Cwd).String(p.Session).String(p.User).
			String(p.Host).Int(p.StartedAt.AsTime().UnixNano()).Int(p.Duration.AsDuration().Nanoseconds()).ID()
	}
	return e, len(found), nil
}
