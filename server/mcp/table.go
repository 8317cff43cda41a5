package mcp

// The names of tools that others refer to.
const toolImport = "import"

// tools returns all tools, those that answer most questions first. At most 14, and tools/list at
// most 9 KB: a test counts both.
func tools() []tool {
	return []tool{
		define("symbols", "Find declarations by name, words, FILE:LINE or description; detail adds owners and authors.", reads, symbols),
		define("calls", "Who calls a symbol, what it calls, or the call paths between two symbols, across repositories.", reads, calls),
		define("impact", "What a change of symbols, files or a revision range can reach: callers by package, tests to run, owners, services that use it.", reads, impact),
		define("diff", "What differs between two revisions: symbols, edges, dependencies, owners, users elsewhere.", reads, diff),
		define("repository", "A repository's graph: summary, commits with snapshots, HTTP routes, communities, or the neighbourhood of a symbol.", reads, repository),
		define("stale", "What is out of date: references to removed symbols, docs naming them, unused code, unchanged callers of changed code.", reads, stale),
		define("runtime", "What runs, by spans: services, traffic of routes, calls between services, routes never called, totals, one trace.", reads, running),
		define("why", "Why a command, test, build or trace failed, and what mended it last time. Without about: the newest failure here.", reads, why),
		define("commands", "Commands that were run, with outcomes: search, one in detail, the story around one, what recurs.", reads, ran),
		define("evidence", "What agents and people said, decided and learned, with sources; newer versions and contradictions are marked.", reads, evidences),
		define("remember", "Write down a decision, fact, note, plan, task or handover for later and for others, or announce what you are about to change.", adds, remember),
		define(toolImport, "Import or update a git repository, so that its code can be asked about.", addsOnce, imports),
	}
}

// scope is what every question about code takes.
type scope struct {
	Repo string `json:"repo,omitempty"`
	At   string `json:"at,omitempty"`
}
