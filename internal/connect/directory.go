package connect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/recountdb/recount/internal/spool"
	"github.com/recountdb/recount/server/node"
)

// nothingRecorded reports whether nothing was ever recorded in the data directory of the config. It
// is false if a server or external brokers are configured, because these may have data.
func (con *Connector) nothingRecorded(cfg node.Config) bool {
	if con.ServerURL() != "" || len(cfg.Kafka.Brokers) > 0 || !spool.Empty(spool.Dir(cfg.DataDir)) || len(spool.Remotes(cfg.DataDir)) > 0 {
		return false
	}
	entries, err := os.ReadDir(cfg.DataDir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false // opening the directory will report the error
	}
	return !slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return slices.Contains([]string{"recount.json", "log", "projections", "LOCK"}, e.Name())
	})
}

// ToRead returns the config for a verb that only reads. If nothing was ever recorded, the config
// names an empty temporary directory, which done removes: so a question creates no data directory
// and gets the answer of an empty one.
func (con *Connector) ToRead(cfg node.Config) (_ node.Config, done func() error, err error) {
	if !con.nothingRecorded(cfg) {
		return con.ToWrite(cfg)
	}
	abs, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return cfg, nil, err
	}
	con.Note("nothing is recorded in %s yet", abs)
	if cfg.DataDir, err = os.MkdirTemp("", "recount-nothing-"); err != nil {
		return cfg, nil, err
	}
	return cfg, func() error { return os.RemoveAll(cfg.DataDir) }, nil
}

// ToWrite returns the config for a verb that changes something and may create the directory.
func (con *Connector) ToWrite(cfg node.Config) (_ node.Config, done func() error, err error) {
	return cfg, func() error { return nil }, nil
}

// ToKeep returns the config for a verb whose result is kept. It fails if nothing was ever recorded
// in the directory, which probably means a wrong name.
func (con *Connector) ToKeep(cfg node.Config) (_ node.Config, done func() error, err error) {
	if con.nothingRecorded(cfg) {
		return cfg, nil, fmt.Errorf("nothing is recorded in %s: name the data directory by --data-dir or RECOUNT_DATA_DIR", cfg.DataDir)
	}
	return con.ToWrite(cfg)
}
