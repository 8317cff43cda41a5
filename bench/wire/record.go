package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// fixture is a recorded conversation of two turns.
type fixture struct {
	Name  string `json:"name"`
	Turns []turn `json:"turns"`
}

type turn struct {
	Path    string          `json:"path"`
	Request json.RawMessage `json:"request"`
	Answer  json.RawMessage `json:"answer,omitempty"`
}

// record asks the questions of a file and writes a fixture for each.
func record(url, questions, dir string) error {
	b, err := os.ReadFile(questions)
	if err != nil {
		return err
	}
	var all []fixture
	if err := json.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("%s: %w", questions, err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, f := range all {
		for i := range f.Turns {
			if f.Turns[i].Answer, err = ask(url, f.Turns[i]); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		out, err := json.MarshalIndent(f, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name+".json"), append(out, '\n'), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// volatile are the fields of an answer that say how it was computed. They are left out of a fixture:
// no codec sends them.
var volatile = []string{"proof", "timing", "watermark", "applied_filters"}

func ask(url string, t turn) (json.RawMessage, error) {
	resp, err := http.Post(strings.TrimSuffix(url, "/")+"/v1/"+t.Path, "application/json", bytes.NewReader(t.Request))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s %s: %s: %.300s", t.Path, t.Request, resp.Status, b)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		return nil, err
	}
	for _, name := range volatile {
		delete(fields, name)
	}
	delete(fields, "rests_on")
	return json.Marshal(fields)
}
