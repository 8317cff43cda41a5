package configs_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/recountdb/recount/configs"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/processors/adapter"
)

// TestConfigs does what `recount pipeline lint` and `recount pipeline test` do,
// for every config that ships.
func TestConfigs(t *testing.T) {
	dir := t.TempDir() // as files, as a user who copied them has them
	var files []string
	err := fs.WalkDir(configs.FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := configs.Read(path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, path)
		files = append(files, to)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.WriteFile(to, []byte(content), 0o600)
	})
	if err != nil || len(files) != 7 {
		t.Fatalf("%d configs, %v; want 7", len(files), err)
	}
	for _, verb := range []string{"lint", "test"} {
		t.Run(verb, func(t *testing.T) {
			code, err := streams.CLI(context.Background(), append([]string{verb}, files...), streams.CLIOptions{
				Version: "test", Processors: adapter.Register,
			})
			if code != 0 || err != nil {
				t.Errorf("exit %d, %v; what is wrong stands above", code, err)
			}
		})
	}
	t.Run("a wrong field fails the lint", func(t *testing.T) {
		bad := filepath.Join(dir, "bad.yaml")
		if err := os.WriteFile(bad, []byte("input: { recount_log: { topics: [a], nonesuch: 1 } }\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		code, err := streams.CLI(context.Background(), []string{"lint", bad}, streams.CLIOptions{Processors: adapter.Register})
		if code == 0 && err == nil {
			t.Error("passed")
		}
	})
}
