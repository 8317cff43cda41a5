package mcp

// The names of tools that others refer to.
const (
	toolImport = "import"
	toolReplay = "replay"
)

// tools returns all tools, those that answer most questions first. At most 14 are listed, as a server
// offers either import or replay, and tools/list has at most 9,000 bytes: a test counts both.
func tools() []tool {
	return []tool{
		define("context", "Which files and code to read for a task, files or a change, within a budget of tokens. Start here.", reads, toRead),
		define("symbols", "Find declarations by name, words, FILE:LINE or description.", reads, symbols),
		define("calls", "Who calls a symbol, what it calls, or the call paths between two symbols.", reads, calls),
		define("impact", "What a change can reach: users by package, tests to run, owners, services.", reads, impact),
		define("diff", "What differs between two revisions: symbols, edges, dependencies, owners.", reads, diff),
		define("repository", "A repository: summary, commits, HTTP routes, communities, or the graph around a symbol.", reads, repository),
		define("stale", "What is out of date: uses and docs of removed symbols, unused code, callers left behind.", reads, stale),
		define("runtime", "What runs, by spans: services, traffic, calls between them, dead routes, totals, traces.", reads, running),
		define("why", "Why a command, test, build or trace failed, and what fixed it last time. Without about: the newest failure here.", reads, why),
		define("commands", "Commands run: search, detail, story, what recurs, a plan to repeat one.", reads, ran),
		define("evidence", "What agents and people said and decided, with sources.", reads, evidences),
		define("remember", "Write something down for others and later, or announce a change.", adds, remember),
		define("feedback", "Say what was useful for a task, which ranks later contexts, or ask.", adds, judge),
		define(toolReplay, "Run plans, sandboxed.", executes, replayed),
		define(toolImport, "Import or update a git repository.", addsOnce, imports),
	}
}

// scope is what every question about code takes.
type scope struct {
	Repo string `json:"repo,omitempty"`
	At   string `json:"at,omitempty"`
}
