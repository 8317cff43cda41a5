package secrets

import (
	"fmt"
	"os"

	"github.com/recountdb/recount/internal/strictyaml"
)

// Load reads a Redactor's extra rules from a YAML (or JSON) file:
//
//	rules:
//	  - name: acme-token
//	    pattern: '\bacme_[a-z0-9]{32}\b'
//	  - name: acme-pin
//	    pattern: 'pin[:=]([0-9]{6})'
//	    group: 1
//
// An unknown field is an error, so that a misspelt name is noticed.
func Load(path string) (Options, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return Options{}, fmt.Errorf("redaction rules: %w", err)
	}
	var file struct {
		Rules []Rule `yaml:"rules"`
	}
	if err := strictyaml.Decode(b, &file); err != nil {
		return Options{}, fmt.Errorf("redaction rules: %s: %w", path, err)
	}
	return Options{Extra: file.Rules}, nil
}
