package recording

import (
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/internal/redact/secrets"
)

// Settings is the part of the configuration that a recorder needs.
type Settings struct {
	DataDir string
	Redact  *secrets.Redactor
	// Server is the URL of the server that commands are sent to; "" is the server of the data
	// directory.
	Server string
	// Changes tells to look for the files that a command changed.
	Changes bool
}

// Load reads the settings. If a file is wrong, the error says so and the settings are returned
// without it, so that the command is still recorded: the drainer of the spool applies the redaction
// rules again.
func Load(getenv func(string) string) (s Settings, err error) {
	s = Settings{Redact: secrets.Default(), Server: getenv("RECOUNT_SERVER"), Changes: true}
	var config struct {
		DataDir     string `yaml:"data_dir"`
		RedactRules string `yaml:"redact_rules"`
		Changes     *bool  `yaml:"record_changes"`
	}
	if path := ConfigFile("", getenv); path != "" {
		var b []byte
		if b, err = os.ReadFile(path); err == nil {
			err = yaml.Unmarshal(b, &config)
		}
		if err != nil {
			err = fmt.Errorf("config %s: %w", path, err)
		}
	}
	if config.Changes != nil {
		s.Changes = *config.Changes
	}
	if config.RedactRules != "" {
		var o secrets.Options
		var bad error
		if o, bad = secrets.Load(config.RedactRules); bad == nil {
			var r *secrets.Redactor
			if r, bad = secrets.New(o); bad == nil {
				s.Redact = r
			}
		}
		if bad != nil {
			err = bad
		}
	}
	s.DataDir = config.DataDir
	if s.DataDir == "" || getenv("RECOUNT_DATA_DIR") != "" {
		dir, missing := DataDir("", getenv)
		if s.DataDir = dir; missing != nil {
			return s, missing
		}
	}
	return s, err
}
