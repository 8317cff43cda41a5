package schemas

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The constraints in our .proto files are options of protovalidate. Its own evaluator links a compiler
// of expressions, which every program would set up whenever it starts (decision 127). We state a dozen
// kinds of rules and no expressions, so this file evaluates those. TestConstraints compares the results
// with protovalidate's.

// Validate checks the constraints that events.proto states. An error is of class
// ErrPoison and names the field.
func Validate(m proto.Message) error {
	var wrong []string
	if err := violations(m.ProtoReflect(), "", &wrong); err != nil {
		return err
	}
	if len(wrong) > 0 {
		return Poisonf("%s", strings.Join(wrong, "; "))
	}
	return nil
}

// rule is one constraint: it returns what is wrong with a value, "" if nothing is.
type rule func(v protoreflect.Value) string

// constrained is a field that has constraints, or whose messages may have some.
type constrained struct {
	protoreflect.FieldDescriptor
	required    bool
	whole, item []rule // of the value, and of each element of a list
}

// constraints has the constrained fields of each type of message that was validated, by its full name.
var constraints sync.Map

func constraintsOf(d protoreflect.MessageDescriptor) ([]constrained, error) {
	if known, ok := constraints.Load(d.FullName()); ok {
		return known.([]constrained), nil
	}
	var all []constrained
	for i := range d.Fields().Len() {
		c := constrained{FieldDescriptor: d.Fields().Get(i)}
		if r, ok := proto.GetExtension(c.Options(), validate.E_Field).(*validate.FieldRules); ok && r != nil {
			if err := c.state(r); err != nil {
				return nil, fmt.Errorf("constraints of %s: %w", c.FullName(), err)
			}
		}
		if c.required || len(c.whole) > 0 || len(c.item) > 0 || c.Message() != nil && !c.IsMap() {
			all = append(all, c)
		}
	}
	constraints.Store(d.FullName(), all)
	return all, nil
}

// state takes over the rules of the field.
func (c *constrained) state(r *validate.FieldRules) (err error) {
	c.required = r.GetRequired()
	if items := r.GetRepeated().GetItems(); items != nil {
		if c.item, err = c.rulesOf(items); err != nil {
			return err
		}
	}
	c.whole, err = c.rulesOf(r)
	return err
}

// violations appends what is wrong with a message at a path.
func violations(m protoreflect.Message, path string, wrong *[]string) error {
	fields, err := constraintsOf(m.Descriptor())
	if err != nil {
		return err
	}
	check := func(rules []rule, v protoreflect.Value, at string) {
		for _, r := range rules {
			if what := r(v); what != "" {
				*wrong = append(*wrong, at+": "+what)
			}
		}
	}
	for i := range fields {
		c := &fields[i]
		at := path + string(c.Name())
		switch v := m.Get(c.FieldDescriptor); {
		case !m.Has(c.FieldDescriptor) && (c.required || c.HasPresence()):
			if c.required {
				*wrong = append(*wrong, at+": value is required")
			}
		case c.IsList():
			check(c.whole, v, at)
			for k := range v.List().Len() {
				at, v := at+"["+strconv.Itoa(k)+"]", v.List().Get(k)
				check(c.item, v, at)
				if c.Message() != nil {
					err = violations(v.Message(), at+".", wrong)
				}
			}
		case c.Message() != nil && !c.IsMap():
			check(c.whole, v, at)
			err = violations(v.Message(), at+".", wrong)
		default:
			check(c.whole, v, at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rulesOf returns the rules of one kind of values that a field states, in the order of their
// declaration. A rule that is not known here is an error.
func (c *constrained) rulesOf(r *validate.FieldRules) (all []rule, err error) {
	of := r.ProtoReflect()
	kind := of.WhichOneof(of.Descriptor().Oneofs().ByName("type"))
	if kind == nil {
		return nil, nil
	}
	stated := of.Get(kind).Message()
	limits := map[protoreflect.Name]protoreflect.Value{}
	fields := stated.Descriptor().Fields()
	for i := range fields.Len() {
		d := fields.Get(i)
		switch name := d.Name(); {
		case !stated.Has(d) || name == "items":
		case name == "gt" || name == "gte" || name == "lte":
			limits[name] = stated.Get(d)
		default:
			one, err := c.ruleOf(string(kind.Name())+"."+string(name), stated.Get(d))
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	if len(limits) > 0 {
		all = append(all, within(limits))
	}
	return all, nil
}

// within returns the rule that a number or a duration keeps all limits. NaN keeps none.
func within(limits map[protoreflect.Name]protoreflect.Value) rule {
	var words []string
	var kept []func(x float64) bool
	add := func(name protoreflect.Name, word string, keeps func(x, limit float64) bool) {
		if v, ok := limits[name]; ok {
			words = append(words, word+" "+amount(v))
			limit := measure(v)
			kept = append(kept, func(x float64) bool { return keeps(x, limit) })
		}
	}
	add("gt", "greater than", func(x, limit float64) bool { return x > limit })
	add("gte", "greater than or equal to", func(x, limit float64) bool { return x >= limit })
	add("lte", "less than or equal to", func(x, limit float64) bool { return x <= limit })
	message := "must be " + strings.Join(words, " and ")
	return func(v protoreflect.Value) string {
		for _, keeps := range kept {
			if !keeps(measure(v)) {
				return message
			}
		}
		return ""
	}
}

// measure returns a number, or a duration in seconds. What is rounded is far from every limit.
func measure(v protoreflect.Value) float64 {
	switch x := v.Interface().(type) {
	case int32:
		return float64(x)
	case int64:
		return float64(x)
	case uint32:
		return float64(x)
	case float32:
		return float64(x)
	}
	d := v.Message()
	fields := d.Descriptor().Fields()
	return float64(d.Get(fields.ByName("seconds")).Int()) + float64(d.Get(fields.ByName("nanos")).Int())/1e9
}

// amount returns a limit in words.
func amount(v protoreflect.Value) string {
	s := strconv.FormatFloat(measure(v), 'f', -1, 64)
	if _, ok := v.Interface().(protoreflect.Message); ok {
		s += "s"
	}
	return s
}

// ruleOf returns a rule by its name and the value that it states.
func (c *constrained) ruleOf(name string, stated protoreflect.Value) (rule, error) {
	holds := func(ok func(v protoreflect.Value) bool, message string) (rule, error) {
		return func(v protoreflect.Value) string {
			if ok(v) {
				return ""
			}
			return message
		}, nil
	}
	// size is the rule that sizes are in a range.
	size := func(of func(v protoreflect.Value) int, least, most uint64, format string) (rule, error) {
		return holds(func(v protoreflect.Value) bool { n := uint64(of(v)); return least <= n && n <= most }, fmt.Sprintf(format, stated.Uint()))
	}
	runes := func(v protoreflect.Value) int { return utf8.RuneCountInString(v.String()) }
	text := func(v protoreflect.Value) int { return len(v.String()) }
	bytes := func(v protoreflect.Value) int { return len(v.Bytes()) }
	items := func(v protoreflect.Value) int { return v.List().Len() }
	pairs := func(v protoreflect.Value) int { return v.Map().Len() }
	switch name {
	case "string.min_len":
		return size(runes, stated.Uint(), math.MaxUint64, "must be at least %d characters")
	case "string.max_len":
		return size(runes, 0, stated.Uint(), "must be at most %d characters")
	case "string.min_bytes":
		return size(text, stated.Uint(), math.MaxUint64, "must be at least %d bytes")
	case "string.max_bytes":
		return size(text, 0, stated.Uint(), "must be at most %d bytes")
	case "string.pattern":
		pattern, err := regexp.Compile(stated.String())
		if err != nil {
			return nil, err
		}
		return holds(func(v protoreflect.Value) bool { return pattern.MatchString(v.String()) }, "does not match regex pattern `"+stated.String()+"`")
	case "bytes.len":
		return size(bytes, stated.Uint(), stated.Uint(), "must be %d bytes")
	case "bytes.min_len":
		return size(bytes, stated.Uint(), math.MaxUint64, "must be at least %d bytes")
	case "bytes.max_len":
		return size(bytes, 0, stated.Uint(), "must be at most %d bytes")
	case "repeated.min_items":
		return size(items, stated.Uint(), math.MaxUint64, "must contain at least %d item(s)")
	case "repeated.max_items":
		return size(items, 0, stated.Uint(), "must contain no more than %d item(s)")
	case "map.max_pairs":
		return size(pairs, 0, stated.Uint(), "map must be at most %d entries")
	case "enum.defined_only":
		return holds(func(v protoreflect.Value) bool { return c.Enum().Values().ByNumber(v.Enum()) != nil }, "value must be one of the defined enum values")
	case "enum.not_in":
		var not []string
		for i := range stated.List().Len() {
			not = append(not, stated.List().Get(i).String())
		}
		return holds(func(v protoreflect.Value) bool { return !slices.Contains(not, strconv.Itoa(int(v.Enum()))) }, "must not be in list ["+strings.Join(not, ", ")+"]")
	}
	return nil, fmt.Errorf("rule %s is not known to this program", name)
}
