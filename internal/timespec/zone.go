package timespec

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Zone returns the name of this machine's time zone as the IANA database has it, or the offset from
// UTC at a time ("+05:30") where the name cannot be known.
func Zone(now time.Time) string {
	name, set := os.LookupEnv("TZ")
	name = strings.TrimPrefix(name, ":")
	if !set {
		if file, err := filepath.EvalSymlinks("/etc/localtime"); err == nil {
			name = file
		}
	}
	if _, in, ok := strings.Cut(name, "zoneinfo/"); ok {
		name = in
	}
	if loc, err := time.LoadLocation(name); err == nil && loc != time.Local {
		return loc.String()
	}
	return now.Format("-07:00")
}
