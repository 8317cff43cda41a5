package code

import "github.com/recountdb/recount/query"

// Exported is a graph as Export writes it in JSON.
type Exported struct {
	Revision    Revision       `json:"revision"`
	Communities []Community    `json:"communities,omitempty"`
	Nodes       []ExportedNode `json:"nodes,omitempty"`
	Edges       []ExportedEdge `json:"edges,omitempty"`
	RestsOn     query.Basis    `json:"rests_on"`
}

// ExportedNode is a symbol of an exported graph.
type ExportedNode struct {
	ID string `json:"id"`
	Symbol
	Community int `json:"community,omitempty"`
}

// ExportedEdge is an edge of an exported graph, between the ids of two symbols.
type ExportedEdge struct {
	From       string  `json:"from"`
	To         string  `json:"to"`
	Edge       string  `json:"edge"`
	Provenance string  `json:"provenance,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	Site       string  `json:"site,omitempty"`
	Sites      int     `json:"sites,omitempty"`
}
