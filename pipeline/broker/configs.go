package broker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/storage"
	"github.com/recountdb/recount/pipeline/broker/wire"
)

// topicConfig describes one topic setting. The log keeps everything as it was sent, so a setting
// that promises something has only one true value here: that value is accepted and any other is
// refused. Settings that promise nothing a client could notice are in inertSettings.
type topicConfig struct {
	kind  kmsg.ConfigType
	value string                                    // the default
	parse func(*storage.TopicConfigs, string) error // nil: only the default is accepted
	doc   string
}

var topicConfigTable = withInert(map[string]topicConfig{
	"cleanup.policy":         {kind: kmsg.ConfigTypeList, value: "delete", doc: "Records are never compacted."},
	"retention.ms":           {kind: kmsg.ConfigTypeLong, value: "-1", doc: "Records are kept forever; delete them with DeleteRecords."},
	"retention.bytes":        {kind: kmsg.ConfigTypeLong, value: "-1", doc: "Records are kept forever; delete them with DeleteRecords."},
	"message.timestamp.type": {kind: kmsg.ConfigTypeString, value: "CreateTime", doc: "Records keep their producer's time."},
	"max.message.bytes": {
		kind: kmsg.ConfigTypeInt, doc: "The largest record batch accepted.",
		parse: func(c *storage.TopicConfigs, v string) error {
			n, err := strconv.Atoi(v)
			if err != nil || n < wire.BatchHeaderSize || n > 512<<20 {
				return fmt.Errorf("want %d to %d", wire.BatchHeaderSize, 512<<20)
			}
			c.MaxMessageBytes = n
			return nil
		},
	},
})

func withInert(table map[string]topicConfig) map[string]topicConfig {
	maps.Copy(table, inertSettings)
	return table
}

// parseTopicConfigs parses settings; its error names the first invalid one.
func parseTopicConfigs(set map[string]string) (*storage.TopicConfigs, error) {
	c := &storage.TopicConfigs{Set: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		def, ok := topicConfigTable[name]
		if !ok {
			return nil, fmt.Errorf("unknown topic config %q", name)
		}
		v := set[name]
		if def.parse == nil {
			if v != def.value {
				return nil, fmt.Errorf("topic config %s=%s is not supported, only %s: %s", name, v, def.value, def.doc)
			}
		} else if err := def.parse(c, v); err != nil {
			return nil, fmt.Errorf("topic config %s=%s: %w", name, v, err)
		}
		c.Set[name] = v
	}
	return c, nil
}

// describeTopicConfigs lists a topic's settings with their sources.
func (b *Broker) describeTopicConfigs(t *storage.Topic) []kmsg.DescribeConfigsResponseResourceConfig {
	set := t.Configs().Set
	var list []kmsg.DescribeConfigsResponseResourceConfig
	for _, name := range slices.Sorted(maps.Keys(topicConfigTable)) {
		def := topicConfigTable[name]
		c := kmsg.NewDescribeConfigsResponseResourceConfig()
		c.Name, c.ConfigType, c.Documentation = name, def.kind, kmsg.StringPtr(def.doc)
		v, isSet := set[name]
		switch {
		case isSet:
			c.Source = kmsg.ConfigSourceDynamicTopicConfig
		case name == "max.message.bytes":
			v, c.Source = strconv.Itoa(b.opts.MaxBatchBytes), kmsg.ConfigSourceStaticBrokerConfig
		default:
			v, c.Source = def.value, kmsg.ConfigSourceDefaultConfig
		}
		c.Value, c.IsDefault = &v, !isSet
		list = append(list, c)
	}
	return list
}

// describeBrokerConfigs lists the broker settings that clients ask for; Options set them.
func (b *Broker) describeBrokerConfigs() []kmsg.DescribeConfigsResponseResourceConfig {
	var list []kmsg.DescribeConfigsResponseResourceConfig
	add := func(name, value string, kind kmsg.ConfigType) {
		c := kmsg.NewDescribeConfigsResponseResourceConfig()
		c.Name, c.Value, c.ConfigType = name, &value, kind
		c.ReadOnly, c.Source = true, kmsg.ConfigSourceStaticBrokerConfig
		list = append(list, c)
	}
	add("auto.create.topics.enable", strconv.FormatBool(b.opts.AutoCreateTopics), kmsg.ConfigTypeBoolean)
	add("broker.id", strconv.Itoa(nodeID), kmsg.ConfigTypeInt)
	add("connections.max.idle.ms", strconv.FormatInt(b.opts.IdleTimeout.Milliseconds(), 10), kmsg.ConfigTypeLong)
	add("default.replication.factor", "1", kmsg.ConfigTypeInt)
	add("log.retention.bytes", "-1", kmsg.ConfigTypeLong)
	add("log.retention.ms", "-1", kmsg.ConfigTypeLong)
	add("max.connections", strconv.Itoa(b.opts.MaxConnections), kmsg.ConfigTypeInt)
	add("message.max.bytes", strconv.Itoa(b.opts.MaxBatchBytes), kmsg.ConfigTypeInt)
	add("num.partitions", strconv.Itoa(b.opts.DefaultPartitions), kmsg.ConfigTypeInt)
	add("socket.request.max.bytes", strconv.Itoa(b.opts.MaxFrameBytes), kmsg.ConfigTypeInt)
	return list
}

func (b *Broker) serveDescribeConfigs(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.DescribeConfigsRequest)
	resp := kmsg.NewPtrDescribeConfigsResponse()
	resp.SetVersion(req.Version)
	for _, rr := range req.Resources {
		sr := kmsg.NewDescribeConfigsResponseResource()
		sr.ResourceType, sr.ResourceName = rr.ResourceType, rr.ResourceName
		configs, refused := b.describeResource(rr.ResourceType, rr.ResourceName)
		if refused != nil {
			sr.ErrorCode, sr.ErrorMessage = refused.Code.Code, &refused.Text
		}
		for _, c := range configs {
			if rr.ConfigNames != nil && !slices.Contains(rr.ConfigNames, c.Name) {
				continue
			}
			if !req.IncludeDocumentation {
				c.Documentation = nil
			}
			sr.Configs = append(sr.Configs, c)
		}
		resp.Resources = append(resp.Resources, sr)
	}
	return resp, nil
}

func (b *Broker) describeResource(kind kmsg.ConfigResourceType, name string) ([]kmsg.DescribeConfigsResponseResourceConfig, *storage.Refusal) {
	switch kind {
	case kmsg.ConfigResourceTypeTopic:
		t := b.data.Topic(name)
		if t == nil {
			return nil, storage.Refuse(kerr.UnknownTopicOrPartition, "there is no topic %q", name)
		}
		return b.describeTopicConfigs(t), nil
	case kmsg.ConfigResourceTypeBroker:
		if name != "" && name != strconv.Itoa(nodeID) {
			return nil, storage.Refuse(kerr.InvalidRequest, "there is no broker %q", name)
		}
		return b.describeBrokerConfigs(), nil
	}
	return nil, storage.Refuse(kerr.InvalidRequest, "only topics and brokers have configs")
}

// checkAlterable refuses to alter resources other than topics.
func checkAlterable(kind kmsg.ConfigResourceType) *storage.Refusal {
	switch kind {
	case kmsg.ConfigResourceTypeTopic:
		return nil
	case kmsg.ConfigResourceTypeBroker:
		return storage.Refuse(kerr.InvalidConfig, "the broker's configs can only be set when it is started")
	}
	return storage.Refuse(kerr.InvalidRequest, "only topics have configs that can be altered")
}

// alterConfigs changes the settings of a resource, and returns the error for the response.
func (b *Broker) alterConfigs(ctx context.Context, kind kmsg.ConfigResourceType, name string, dry bool, change func(set map[string]string) *storage.Refusal) (code int16, message *string) {
	refused := checkAlterable(kind)
	if refused == nil {
		refused = b.data.ConfigureTopic(ctx, name, change, dry)
	}
	if refused == nil {
		return 0, nil
	}
	return refused.Code.Code, &refused.Text
}

func (b *Broker) serveAlterConfigs(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.AlterConfigsRequest)
	resp := kmsg.NewPtrAlterConfigsResponse()
	resp.SetVersion(req.Version)
	for _, rr := range req.Resources {
		sr := kmsg.NewAlterConfigsResponseResource()
		sr.ResourceType, sr.ResourceName = rr.ResourceType, rr.ResourceName
		sr.ErrorCode, sr.ErrorMessage = b.alterConfigs(ctx, rr.ResourceType, rr.ResourceName, req.ValidateOnly, func(set map[string]string) *storage.Refusal {
			clear(set) // this API replaces all settings
			for _, c := range rr.Configs {
				if c.Value != nil {
					set[c.Name] = *c.Value
				}
			}
			return nil
		})
		resp.Resources = append(resp.Resources, sr)
	}
	return resp, nil
}

func (b *Broker) serveIncrementalAlterConfigs(ctx context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.IncrementalAlterConfigsRequest)
	resp := kmsg.NewPtrIncrementalAlterConfigsResponse()
	resp.SetVersion(req.Version)
	for _, rr := range req.Resources {
		sr := kmsg.NewIncrementalAlterConfigsResponseResource()
		sr.ResourceType, sr.ResourceName = rr.ResourceType, rr.ResourceName
		sr.ErrorCode, sr.ErrorMessage = b.alterConfigs(ctx, rr.ResourceType, rr.ResourceName, req.ValidateOnly, func(set map[string]string) *storage.Refusal {
			for _, c := range rr.Configs {
				if r := alterOne(set, c); r != nil {
					return r
				}
			}
			return nil
		})
		resp.Resources = append(resp.Resources, sr)
	}
	return resp, nil
}

func alterOne(set map[string]string, c kmsg.IncrementalAlterConfigsRequestResourceConfig) *storage.Refusal {
	switch c.Op {
	case kmsg.IncrementalAlterConfigOpDelete:
		delete(set, c.Name)
		return nil
	case kmsg.IncrementalAlterConfigOpSet:
		if c.Value == nil {
			return storage.Refuse(kerr.InvalidConfig, "topic config %q has no value", c.Name)
		}
		set[c.Name] = *c.Value
		return nil
	}
	return storage.Refuse(kerr.InvalidConfig, "topic config %q is set or deleted, not appended to", c.Name)
}
