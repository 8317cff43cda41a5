package context

// These are the channels of files.
const (
	chTraced   = "traced"   // places that the task says, as stack traces do
	chNamed    = "named"    // files that declare what the task names
	chWords    = "words"    // BM25 of contents, paths and declared names
	chPath     = "path"     // words of the task in its path
	chSymbols  = "symbols"  // the best symbols by description
	chPast     = "past"     // commits with messages like the task
	chTogether = "together" // commits that changed it with a given file
	chTwin     = "twin"     // a name like that of a given file, as a test's
	chEdges    = "edges"    // edges of the graph to and from a given file
	chWalk     = "walk"     // a random walk from the given and the best files
	chFolder   = "folder"   // near a given file
	chAlike    = "alike"    // words of a given file
	chUsed     = "used"     // feedback of tasks like this one
)

// These are further channels of symbols.
const (
	chDescribed = "described" // words of names, documentation, signatures and surroundings
	chFile      = "file"      // the score of its file
	chNear      = "near"      // a random walk from the best and the changed symbols
	chChanged   = "changed"   // part of the change
)

// fileWeights and symbolWeights are the weights of the channels. bench/docs/context.md ("Files") says on
// which samples they were chosen, and what leaving each out costs.
var fileWeights = map[string]float64{
	chTraced: 3, chNamed: 1, chWords: 2, chSymbols: 1, chPast: 0.7,
	chTogether: 2, chTwin: 2, chEdges: 1, chWalk: 0.7, chFolder: 0.4, chAlike: 0.7, chUsed: 2,
}

// taskAndFileWeights are those of requests with a task and files. folder, alike and walk are not
// among them: without them the first half of the samples has better figures.
var taskAndFileWeights = map[string]float64{
	chTraced: 3, chNamed: 0.4, chWords: 2, chPath: 0.8, chSymbols: 0.4, chPast: 1.1,
	chTogether: 0.7, chTwin: 0.8, chEdges: 0.3, chUsed: 1,
}

var symbolWeights = map[string]float64{
	chDescribed: 3, chNamed: 1, chFile: 0.6, chNear: 0.5, chChanged: 2, chUsed: 1,
}

// fileBlend and symbolBlend say how the lists of channels are fused.
var fileBlend, symbolBlend = blend{0.5, 8}, blend{0.8, 8}

// These are the factors for symbols: in tests, unless the task is about tests; types; fields and
// other parts; what others cannot name. toType and toMember are the shares of their scores that the
// best member gives its type, and a type its members.
const (
	testFactor, typeFactor, partFactor, privateFactor = 0.4, 1.1, 0.4, 0.8
	toType, toMember                                  = 0.2, 0.4
)

// noiseFactor, proseFactor and asideFactor are the factors for files that a person seldom means, the
// last one where source code is given. testBonus is what a test gets there, and testsFirst the number of
// tests that get it: with all of them, the tests of a large suite push everything else down.
const (
	noiseFactor, proseFactor, asideFactor, testBonus = 0.2, 0.6, 0.1, 0.6

	testsFirst = 10
)
