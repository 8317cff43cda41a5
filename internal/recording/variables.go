package recording

// Variables names variables that decide what a build or a commit writes, and are no secrets. Their values
// are recorded with a command if they are set, so that a replay has them (decision 124). It does not
// grow without a reason: each is a part of the context hash of whoever sets it.
var Variables = []string{
	"SOURCE_DATE_EPOCH", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE",
	"PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONPATH", "NODE_ENV",
	"GOFLAGS", "GOOS", "GOARCH", "CGO_ENABLED", "RUSTFLAGS", "CARGO_HOME", "RUSTUP_HOME",
	"CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS",
}

// maxVariable is the maximum length of a recorded value in bytes; a longer one is not recorded, since half
// of it would be another value.
const maxVariable = 4096

// VariablesOf returns those of an environment, nil if it has none.
func VariablesOf(getenv func(string) string) map[string]string {
	var all map[string]string
	for _, name := range Variables {
		v := Clean(getenv(name))
		if v == "" || len(v) > maxVariable {
			continue
		}
		if all == nil {
			all = map[string]string{}
		}
		all[name] = v
	}
	return all
}
