package evidence

import "time"

// These are the paths that find candidates.
const (
	pathID       = "id"
	pathEntity   = "entity"
	pathLexical  = "lexical"
	pathDense    = "dense"
	pathTemporal = "temporal"
	pathClaim    = "claim"
	pathGraph    = "graph"
	pathReason   = "reason"
	pathRemedy   = "remedy"
)

// Weights are the weights of the paths in the fusion, and the parameters of the factors applied
// afterwards. The zero Weights mean DefaultWeights. docs/decisions has the reasons (how evidence is
// ranked).
type Weights struct {
	// These are the weights of the paths. A path with weight 0 is not run.
	ID, Entity, Lexical, Dense, Temporal, Claim, Graph, Reason, Remedy float64
	// Age is the maximum fraction by which age lowers a score, 0..1; at the age HalfLife it is half
	// of that. The default is so small that it orders only what is otherwise equally good.
	Age      float64
	HalfLife time.Duration
	// Importance is the maximum fraction by which importance changes a score, 0..1: it is raised at
	// importance 1, lowered at 0, and unchanged at 0.5.
	Importance float64
	// Use is the maximum fraction by which use raises a score, 0..1. The effect of a use falls with
	// its age, to half at HalfLife.
	Use float64
	// Superseded is the factor (0..1) for the score of an object that was replaced or is not valid
	// at the moment.
	Superseded float64
}

// DefaultWeights returns the default weights.
func DefaultWeights() Weights {
	return Weights{
		ID: 8, Entity: 0.1, Lexical: 1, Dense: 0.2, Temporal: 0.3, Claim: 1.5, Graph: 1, Reason: 2, Remedy: 2,
		Age: 0.005, HalfLife: 7 * 24 * time.Hour, Importance: 0.1, Use: 0.1, Superseded: 0.5,
	}
}

// orDefault returns DefaultWeights for the zero Weights.
func (w Weights) orDefault() Weights {
	if w == (Weights{}) {
		return DefaultWeights()
	}
	return w
}

func (w *Weights) weightOf(path string) float64 {
	switch path {
	case pathID:
		return w.ID
	case pathEntity:
		return w.Entity
	case pathLexical:
		return w.Lexical
	case pathDense:
		return w.Dense
	case pathTemporal:
		return w.Temporal
	case pathClaim:
		return w.Claim
	case pathGraph:
		return w.Graph
	case pathReason:
		return w.Reason
	case pathRemedy:
		return w.Remedy
	}
	return 0
}

// age returns the factor for something that happened that many nanoseconds before the moment. Later
// things count as new. The curve is a hyperbola, because a division gives the same bits on every
// CPU.
func (w *Weights) age(nanos int64) float64 {
	if nanos <= 0 || w.Age == 0 {
		return 1
	}
	lives := float64(nanos) / float64(w.HalfLife)
	return 1 - float64(w.Age*float64(lives/(1+lives)))
}

// importance returns the factor of an object's importance, 0..1.
func (w *Weights) importance(x float32) float64 {
	return 1 + float64(w.Importance*float64(2*float64(x)-1))
}

// use returns the factor of uses, given their ages in nanoseconds. As in age, conversions prevent
// fused multiply-add.
func (w *Weights) use(ages []int64) float64 {
	if w.Use == 0 {
		return 1
	}
	sum := 0.0
	for _, nanos := range ages {
		lives := float64(max(nanos, 0)) / float64(w.HalfLife)
		sum += float64(1 / (1 + lives))
	}
	return 1 + float64(w.Use*float64(sum/(1+sum)))
}
