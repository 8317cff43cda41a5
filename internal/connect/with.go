package connect

import (
	"context"
	"errors"

	"github.com/recountdb/recount/server/node"
)

// WithBackend opens a backend for questions, whose answers have all commands that were on the log then,
// and closes it after fn.
func (con *Connector) WithBackend(ctx context.Context, fn func(b *Backend) error) (err error) {
	return con.WithBackendFor(ctx, con.ToRead, func(b *Backend) error {
		con.awaitVisible(ctx, b)
		return fn(b)
	})
}

// WithBackendFor opens a backend and closes it after fn. purpose is toRead, toWrite or toKeep and
// decides whether the data directory is created.
func (con *Connector) WithBackendFor(ctx context.Context, purpose func(node.Config) (node.Config, func() error, error), fn func(b *Backend) error) (err error) {
	cfg, err := con.NodeConfig()
	if err != nil {
		return err
	}
	cfg, done, err := purpose(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	b, err := con.Open(ctx, cfg, DefaultWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if b.Local == nil {
		defer con.UnlessSoon(func() string { return "waiting for the answer of the server" })()
	}
	return fn(b)
}
