package evidence

import "time"

// The paths that bring candidates.
const (
	pathID       = "id"
	pathEntity   = "entity"
	pathLexical  = "lexical"
	pathDense    = "dense"
	pathTemporal = "temporal"
	pathGraph    = "graph"
	pathReason   = "reason"
	pathRemedy   = "remedy"
)

// rrfK damps the weight of the first ranks (Cormack, Clarke and Büttcher 2009).
const rrfK = 60

// Weights say what each path counts for in the fusion, and how what it gives is changed
// by the standing of an object. DefaultWeights are the defaults; the zero Weights mean
// them. docs/decisions says why they are so (how evidence is ranked).
type Weights struct {
	// Of the paths. A path of weight 0 is left out.
	ID, Entity, Lexical, Dense, Temporal, Graph, Reason, Remedy float64
	// Age is the most that age takes off a score, 0..1; HalfLife is the age at which it
	// has taken half of that.
	Age      float64
	HalfLife time.Duration
	// Importance is the most that importance adds to a score or takes off, 0..1: at 1 and
	// at 0; one of 0.5 does neither.
	Importance float64
	// Use is the most that use adds to a score, 0..1: a use counts less with its age, half
	// at HalfLife.
	Use float64
	// Superseded is what the score of an object is multiplied with of which something took
	// the place, or that does not hold at the moment, 0..1.
	Superseded float64
}

// DefaultWeights are what is used where nothing else is said.
func DefaultWeights() Weights {
	return Weights{
		ID: 8, Entity: 1, Lexical: 1, Dense: 0.05, Temporal: 0.3, Graph: 1, Reason: 2, Remedy: 2,
		Age: 0.1, HalfLife: 7 * 24 * time.Hour, Importance: 0.1, Use: 0.1, Superseded: 0.5,
	}
}

// orDefault is the defaults for the zero Weights.
func (w Weights) orDefault() Weights {
	if w == (Weights{}) {
		return DefaultWeights()
	}
	return w
}

func (w *Weights) of(path string) float64 {
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
	case pathGraph:
		return w.Graph
	case pathReason:
		return w.Reason
	case pathRemedy:
		return w.Remedy
	}
	return 0
}

// age is the factor of something that happened so many nanoseconds before the moment.
// What is after it is as new as can be. It falls as a hyperbola does, which a division
// gives with the same bits on every CPU.
func (w *Weights) age(nanos int64) float64 {
	if nanos <= 0 || w.Age == 0 {
		return 1
	}
	lives := float64(nanos) / float64(w.HalfLife)
	return 1 - float64(w.Age*float64(lives/(1+lives)))
}

// importance is the factor of an object's importance, 0..1.
func (w *Weights) importance(x float32) float64 {
	return 1 + float64(w.Importance*float64(2*float64(x)-1))
}

// use is the factor of uses, of each how many nanoseconds before the moment it was. As in
// age, no sum is in one step with a product.
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
