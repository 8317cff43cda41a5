package connect

import (
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/server/node"
)

// NodeConfig returns the config file overridden by the global flags.
func (con *Connector) NodeConfig() (node.Config, error) {
	var cfg node.Config
	var err error
	if path := con.configPath(); path != "" {
		if cfg, err = node.LoadConfig(path); err != nil {
			return cfg, err
		}
	}
	if cfg.DataDir == "" || con.DataDir != "" || con.Getenv("RECOUNT_DATA_DIR") != "" {
		if cfg.DataDir, err = con.dataPath(); err != nil {
			return cfg, err
		}
	}
	cfg.Version = con.Version
	return cfg, nil
}

// Redactor returns the redactor of the config: a verb redacts before any data leaves the process.
func Redactor(cfg node.Config) (*redact.Redactor, error) {
	if cfg.RedactRules == "" {
		return redact.Default(), nil
	}
	o, err := redact.Load(cfg.RedactRules)
	if err != nil {
		return nil, err
	}
	return redact.New(o)
}

// dataPath returns the path of the data directory.
func (con *Connector) dataPath() (string, error) { return recording.DataDir(con.DataDir, con.Getenv) }

// configPath returns the path of the config file, "" if there is none.
func (con *Connector) configPath() string { return recording.ConfigFile(con.Config, con.Getenv) }
