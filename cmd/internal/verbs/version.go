package verbs

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/internal/render"
)

// VersionLine returns what version and --version print.
func VersionLine(version string) string {
	return fmt.Sprintf("recount %s (%s, %s)", version, runtime.Version(), cli.Platform())
}

// Version returns the verb version.
func Version(t *render.Terminal, version string) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  recount version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"version": version, "go": runtime.Version(), "platform": cli.Platform()}
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						v["commit"] = s.Value
					}
				}
			}
			if t.JSON {
				return t.PrintJSON(v)
			}
			t.Printf("%s\n", VersionLine(version))
			return nil
		},
	}
}
