// otlp.js HOW URL N: sends N spans by OpenTelemetry's SDK for JavaScript, and ends
// with an error if an export fails. scripts/otlp.sh runs it.
const [how, url, n] = process.argv.slice(2);
const { OTLPTraceExporter } = require(`@opentelemetry/exporter-trace-otlp-${how}`);
const { BasicTracerProvider, BatchSpanProcessor } = require('@opentelemetry/sdk-trace-base');
const { resourceFromAttributes } = require('@opentelemetry/resources');

const exporter = new OTLPTraceExporter({ url });
const send = exporter.export.bind(exporter);
exporter.export = (spans, done) => send(spans, (result) => {
  if (result.error) {
    console.error(result.error);
    process.exitCode = 1;
  }
  done(result);
});
const provider = new BasicTracerProvider({
  resource: resourceFromAttributes({ 'service.name': `js-${how}` }),
  spanProcessors: [new BatchSpanProcessor(exporter, { maxQueueSize: 1e6 })],
});
const tracer = provider.getTracer('recount');
for (let i = 0; i < Number(n); i++) {
  tracer.startSpan(`op ${i % 10}`, { attributes: { 'http.route': '/items/{id}', 'db.password': 'hunter2' } }).end();
}
provider.forceFlush().then(() => provider.shutdown());
