package schemas

// NarrativeEdges names the kinds of edges between commands, in the order in which the projection
// narrative numbers them from 1 on.
var NarrativeEdges = [...]string{"temporal", "retry", "fixes", "dependency", "branch", "causal", "similar"}
