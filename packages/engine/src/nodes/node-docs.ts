import type { JsonObject } from '@weft/protocol';

/** What the reference page says of a node type and its code cannot: ports, defaults, limits and an example. */
export interface NodeDocs {
  /** Port → what arrives there; `*` for any. */
  readonly inputs: Readonly<Record<string, string>>;
  /** Port → what leaves there; `*` for any. */
  readonly outputs: Readonly<Record<string, string>>;
  /** Field of the config → its meaning, and its default where it is optional. */
  readonly config: Readonly<Record<string, string>>;
  readonly limits?: readonly string[];
  /** Config and inputs of a node that registers as they stand. */
  readonly example: {
    readonly config: JsonObject;
    readonly inputs?: JsonObject;
    readonly credentialsRef?: string;
  };
}

const NOTHING = {};
const ANSWERED_WHOLE = 'the answer as one object';
const ENVELOPES =
  'Whether the model is instructed that it may ask a person, or report what it cannot do, in place of an answer. It is understood without that instruction, too; `false`: then it is text.';
const TIMEOUT = 'Milliseconds after which the question expires; without it, it waits for ever.';
const MAPPING_IN = 'Variables of the child, by name, from variables of this run.';
const MAPPING_OUT = 'Variables of this run, by name, from variables of the child when it has completed.';

/** By type id; a test holds it to the types and their configs. */
const REF_DOCS = (kind: string, field: string): string =>
  `A template of the library of kind \`${kind}\`, instead of \`${field}\`: \`prompt:ID\`, or \`prompt:ID@VERSION\`. Its variables are input ports.`;

export const NODE_DOCS: Readonly<Record<string, NodeDocs>> = {
  'conformance.requiresMissing': {
    inputs: NOTHING,
    outputs: NOTHING,
    config: {},
    example: { config: {} },
  },
  'conformance.cost.emit': {
    inputs: NOTHING,
    outputs: NOTHING,
    config: { attrs: 'Attributes of a cost by their names, such as `openwop.cost.usd`.' },
    example: { config: { attrs: { 'openwop.cost.usd': 0.01, 'openwop.cost.tokens.input': 100 } } },
  },
  'conformance.secret.echo': {
    inputs: NOTHING,
    outputs: { secretSha256: 'SHA-256 of the value, hex', secretLength: 'its length' },
    config: { secretId: 'Id of the secret; without it the one in `credentialsRef`.' },
    example: { config: { secretId: 'openwop-conformance-canary-secret' } },
  },
  'core.ai.callPrompt': {
    inputs: {
      prompt: 'what to ask, before `config.prompt`',
      system: 'the system prompt, before `config.system`',
      input:
        'data for the prompt, which the model sees between marks as untrusted; where there is no prompt, what to ask',
      images:
        'artifacts of this run that are shown to the model: ids, or references as other nodes put them out; at most 8 PNG, JPEG, GIF or WebP images of 5 MiB, 16 MiB together',
    },
    outputs: {
      output: 'the answer: text, or with `outputSchema` the value',
      text: 'the answer as text',
      value: 'with `outputSchema`: the value that satisfies it',
      model: 'the model that answered',
      finishReason: 'why it stopped',
      usage: 'tokens, as the provider counts them',
      toolCalls: 'tools it wants called, if any',
      error: 'what the model reports that it cannot do, with `code` and `message`; then there is no `output`',
    },
    config: {
      promptId: 'Id of a prompt; one of `promptId`, `prompt` and `userPromptRef` is needed.',
      prompt: 'The text to ask.',
      system: 'The system prompt; default: none.',
      systemPromptRef: REF_DOCS('system', 'system'),
      userPromptRef: REF_DOCS('user', 'prompt'),
      schemaHintPromptRef: 'A template of kind `schema-hint`, which follows the system prompt.',
      fewShotPromptRefs: 'Templates of kind `few-shot`, which stand before the prompt; at most 8.',
      examples: 'Questions with the answers wanted, shown to the model before the prompt; at most 32.',
      model:
        'The model, as `PROVIDER/MODEL`; `configurable.model` and `configurable["ai.model"]` of the run go before it; default: the host’s.',
      temperature: 'Default: the provider’s; `configurable.temperature` goes before it.',
      maxTokens: 'Most tokens of the answer; default: the provider’s.',
      outputSchema: 'JSON Schema that the answer must satisfy; then nothing is streamed before it does.',
      maxRepairs:
        'How often the model is asked again when its answer does not, or was cut off, 0 to 4; default 2. After that: `envelope_invalid`.',
      envelopes: ENVELOPES,
      mcp: 'A tool to call instead of asking a model: `tool`, `arguments`, and as of `core.mcp.toolCall` `timeoutMs`, `requireApproval` and `digest`; `server`: by default the one called `default`, or the only one. The ports are then those of `core.mcp.toolCall`.',
      expectsStreaming: 'For readers of the definition; the answer is streamed either way.',
    },
    limits: ['Outputs: 256 KiB together, as of every node.'],
    example: { config: { prompt: 'Summarise the order in one sentence.', model: 'small', maxTokens: 200 } },
  },
  'core.approvalGate': {
    inputs: {
      artifactData: 'what is to be approved, where `config.artifactData` does not say',
      input: 'the same, where neither does',
    },
    outputs: {
      output: ANSWERED_WHOLE,
      action: 'what was decided: `accept`, `edit-accept` or `refine`',
      '*': 'every other member of the deciding answer, such as `feedback`',
    },
    config: {
      title: 'What is asked; default: the node’s id.',
      description: 'More about it.',
      actions: 'What may be answered; default `accept` and `reject`.',
      artifactId: 'Id of what is approved; default: the node’s id.',
      artifactType: 'Its type; default `approval`.',
      artifactData: 'What is shown to the person who decides.',
      requiredApprovals: 'How many must accept; default 1.',
      rejectionPolicy:
        '`single-veto` (default): one rejection rejects; `majority`: rejections from more than half of `requiredApprovals`.',
      approversList: 'Principals who may decide; default: everyone with the scope for it.',
      profile: '`openwop-interrupt-auth-required`: signed links do not open this gate, only keys do.',
      timeoutMs: TIMEOUT,
    },
    limits: ['A rejection fails the node with `approval_rejected`, a timeout with `interrupt_timeout`.'],
    example: {
      config: { title: 'An expense over the limit', requiredApprovals: 2, timeoutMs: 604_800_000 },
      inputs: { artifactData: { type: 'static', value: { amount: 800 } } },
    },
  },
  'core.channelWrite': {
    inputs: {
      value: 'what to write, before `config.value`',
      input: 'what to write, where neither says so',
    },
    outputs: { output: 'what was written' },
    config: {
      channelName: 'The channel.',
      reducer: 'For a channel that the workflow does not declare; default `replace`.',
      ttlMs: 'How long an entry lives; default: for ever, or as the channel is declared.',
      maxSize: 'Most entries; default: no limit but the state of the run.',
      value: 'What to write.',
      to: '`parent`: the channel of the run that started this one; its declaration says the rest.',
    },
    limits: ['All channels and variables of a run together: 4 MiB (`max-state-bytes`).'],
    example: { config: { channelName: 'lengths', reducer: 'append', value: 4 } },
  },
  'core.clarificationGate': {
    inputs: NOTHING,
    outputs: { output: ANSWERED_WHOLE, answers: 'the answers by question id' },
    config: {
      questions: 'Each with `id`, `question` and, if you like, a JSON Schema for its answer.',
      contextType: 'A word for programs that show the questions.',
      timeoutMs: TIMEOUT,
    },
    limits: [
      'An answer that does not fit is refused, and the question stays open. One node may ask 3 times (`clarification-rounds`).',
    ],
    example: {
      config: {
        questions: [
          { id: 'colour', question: 'Which colour?', schema: { type: 'string', enum: ['red', 'blue'] } },
        ],
      },
    },
  },
  'core.conditional': {
    inputs: { input: 'what is passed on', '*': 'what the condition looks at' },
    outputs: {
      true: 'port `input` (without one: all input ports as an object), when the condition holds',
      false: 'the same, when it does not',
    },
    config: {
      condition: 'A CEL expression, or a condition as on [edges](../guide/writing-workflows.md#conditions).',
    },
    example: { config: { condition: 'variables.amount > 1000' } },
  },
  'core.conformance.hold': {
    inputs: { delayMs: 'milliseconds to wait', '*': 'anything' },
    outputs: { '*': 'what its input port of the same name was given' },
    config: {},
    limits: ['365 days.'],
    example: { config: {}, inputs: { delayMs: { type: 'static', value: 100 } } },
  },
  'core.conformance.side-effect': {
    inputs: NOTHING,
    outputs: { effectId: 'id of the entry that was written', output: 'the same' },
    config: {},
    example: { config: {} },
  },
  'core.conformance.mock-agent': {
    inputs: NOTHING,
    outputs: { '*': 'what the script says' },
    config: {
      agentId: 'Who speaks; default: the agent of the node.',
      mockReasoning: 'A reasoning to tell of.',
      mockToolCalls: 'Tool calls with their results.',
      mockHandoff: 'A handoff to another agent.',
      mockDecision: 'A decision.',
      mockConfidence: 'How sure it is; below the threshold a person is asked.',
    },
    limits: ['Only in workflows whose id begins with `conformance-`.'],
    example: { config: { agentId: 'agent.sample', mockReasoning: true } },
  },
  'core.conversationGate': {
    inputs: NOTHING,
    outputs: {
      conversationId: 'its id',
      turnCount: 'turns, the opening and the closing one included',
      outcome: 'what it ended with, if anything',
      reason: 'why it ended, such as `turn-count-reached` or `timeout`',
    },
    config: {
      lifecycle: 'The only one there is, and the default.',
      prompt: 'The opening turn; default “What would you like to say?”.',
      title: 'A title for programs that show it.',
      schema: 'JSON Schema that the content of each turn must satisfy; default: anything.',
      turnCount: 'Turns after which it closes by itself; default: a person closes it.',
      channel:
        'A declared `message` channel that keeps the turns; default `conversation`, if it is declared.',
      timeoutMs: 'Milliseconds of silence after which it closes; default: never.',
      mockAutoResume: 'In workflows of conformance suites: it talks with itself.',
    },
    example: { config: { prompt: 'How was your stay?', turnCount: 3 } },
  },
  'core.delay': {
    inputs: {
      delayMs: 'milliseconds, where the config does not say',
      input: 'anything; it is passed on',
    },
    outputs: { delayMs: 'how long it waited', output: 'what arrived on port `input`, if anything did' },
    config: { ms: 'Milliseconds.', delayMs: 'The same, where `ms` is not given.' },
    limits: ['At most 365 days. The due time is durable: a restart does not begin it again.'],
    example: { config: {}, inputs: { delayMs: { type: 'static', value: 1500 } } },
  },
  'core.dispatch': {
    inputs: NOTHING,
    outputs: {
      decision: 'of `terminate`: the decision',
      childRunId: 'of `next-worker`: the last child run',
      childStatus: 'how it ended',
      childError: 'its error, if it failed',
      output: 'the decision, the outputs of the last child, or the person’s answer',
    },
    config: {
      askUserRouting: 'How `ask-user` asks; default `auto`, which is `conversation`.',
      workerDispatchModel: 'The only one there is, and the default.',
      fanOutPolicy: '`sequential` (default) or `reject`: a decision that names several workers fails.',
      iterationCap:
        'How often it may be entered; once more ends the run. Default: as often as `max-loop-iterations` lets the supervisor decide.',
      inputMapping: MAPPING_IN,
      outputMapping: MAPPING_OUT,
      perWorkerInputMappings: 'The same by workflow id, before `inputMapping`.',
      perWorkerOutputMappings: 'The same by workflow id, before `outputMapping`.',
    },
    limits: ['Decisions of one run: 100 (`max-loop-iterations`).'],
    example: { config: { fanOutPolicy: 'sequential', inputMapping: { topic: 'topic' } } },
  },
  'core.end': {
    inputs: { input: 'the result', '*': 'more results, by name' },
    outputs: { output: 'what arrived on port `input`', '*': 'each input port under its own name' },
    config: {},
    example: { config: {}, inputs: { total: { type: 'static', value: 180 } } },
  },
  'core.fail': {
    inputs: NOTHING,
    outputs: NOTHING,
    config: {
      code: 'Default `conformance_test_failure`.',
      message: 'Default “This node fails on purpose.”',
      retryable: 'Whether the retry policy may try again; default `false`.',
    },
    example: {
      config: { code: 'gateway_unavailable', message: 'The service does not answer.', retryable: true },
    },
  },
  'core.getVariable': {
    inputs: NOTHING,
    outputs: { output: 'the value' },
    config: {
      name: 'The variable.',
      default: 'Given when the variable is not set; without it the node fails with `variable_not_set`.',
    },
    example: { config: { name: 'amount', default: 0 } },
  },
  'core.a2a.invoke': {
    inputs: { input: 'before `config.input`' },
    outputs: {
      output: 'the data of the result; without that its text; else the list of its parts',
      artifacts: 'the artifacts of the task, each with `name` and `parts`',
      message: 'the parts of what the agent said last',
      task: '`peer`, `taskId`, `contextId`, `state` and the `cardDigest` of the agent that did it',
    },
    config: {
      peer: 'A peer of `a2a.peers` in the config file of the host; the first one by default.',
      skill: 'Id of a skill that the card of the peer names.',
      input: 'What is sent: a text as text, anything else as data. `{}` by default.',
      timeoutMs: 'How long the peer may work between two questions; 10 minutes by default, a day at most.',
      cardDigest:
        'Calls the skill only while the card says this of it; `weft peers test PEER --json` shows the digest.',
    },
    limits: [
      'A result of at most 120,000 bytes; an answer of the peer of at most 4 MiB.',
      'A question of the peer counts as a clarification of the node.',
    ],
    example: { config: { peer: 'billing', skill: 'refund', input: { order: '41' } } },
  },
  'core.mcp.toolCall': {
    inputs: { arguments: 'laid over `config.arguments`' },
    outputs: {
      output: 'the structured content; without one the text; else the list of content',
      content: 'the parts of the result, as the tool gave them',
      structuredContent: 'where the tool gives it',
      isError: 'true when the tool says that it has failed; the node completes all the same',
      tool: '`server`, `name` and the `digest` of the definition that was called',
    },
    config: {
      serverId: 'A server of `mcpServers` in the config file of the host.',
      toolName: 'A tool that the server lists and the operator admits.',
      arguments: 'Held against the schema of the tool before it is called.',
      timeoutMs: 'For the call; at most, and by default, what the operator has set for the server.',
      requireApproval: '`true` waits for a person, also where the operator does not ask for it.',
      digest: 'Calls this definition only; `weft mcp ls SERVER --json` shows it.',
    },
    example: {
      config: {
        serverId: 'files',
        toolName: 'read_text_file',
        arguments: { path: '/srv/data/note.txt' },
      },
    },
  },
  'core.http.request': {
    inputs: {
      url: 'before `config.url`',
      method: 'before `config.method`',
      headers: 'laid over `config.headers`',
      body: 'before `config.body`',
    },
    outputs: {
      status: 'the status code',
      headers: '`content-type`, `etag`, `last-modified`, `location` and `retry-after`, where they were sent',
      body: 'the body: parsed where it is JSON, else text',
      output: 'the same as `body`, or the reference to the artifact',
      artifact: 'with `saveAs`, in place of `body`: `artifactId`, `mediaType`, `size`, `digest`',
    },
    config: {
      url: 'Where to; needed here or on the port. `weft://self/PATH` is the host itself.',
      method: 'Default `GET`.',
      headers: 'Headers by name; those of framing and addressing belong to the host.',
      secretHeaders:
        'Header → secret id, or `{"secretId": …, "prefix": "Bearer "}`; the value is in no event.',
      body: 'A string is sent as it is, other JSON as `application/json`; `null` sends none.',
      maxResponseBytes: 'Default 122,880, so that `body` and `output` fit an event; with `saveAs` 1,048,576.',
      expectStatus: 'Default `2xx`; any other status fails the node with `http_status`.',
      followRedirects:
        'Default `true`, up to 5; with a secret header other than `authorization` none is followed.',
      saveAs: 'Keeps the body as an artifact of this `name` instead of in the outputs.',
      idempotencyHeader:
        'Header that carries the invocation id; default `Idempotency-Key`, empty sends none.',
    },
    limits: [
      'A larger answer fails with `output_too_large`; a destination that the [egress policy](../guide/running-a-host.md#egress) does not admit with `egress_denied`.',
      'Status 408, 429 and 5xx, and connections that fail, are retryable; `Retry-After` is honoured up to `retry.maxMs`.',
    ],
    example: {
      config: {
        method: 'POST',
        url: 'https://api.example.org/orders',
        body: { id: 'A-17' },
        expectStatus: [200, 201],
      },
      credentialsRef: 'orders-api',
    },
  },
  'core.identity': {
    inputs: { '*': 'anything' },
    outputs: { '*': 'each input port under its own name' },
    config: {},
    example: { config: {}, inputs: { ok: { type: 'expression', expression: '1 < 2' } } },
  },
  'core.interrupt': {
    inputs: NOTHING,
    outputs: { output: ANSWERED_WHOLE, '*': 'every member of the answer' },
    config: {
      kind: 'What is waited for.',
      data: 'Of an `external-event`: `eventType` and `correlation`; of `custom`: `customKind`, and what you like.',
      resumeSchema: 'JSON Schema of the answer; default: any object.',
      timeoutMs: TIMEOUT,
    },
    example: {
      config: {
        kind: 'external-event',
        data: { eventType: 'payment.received', correlation: { orderId: 'A-17' } },
        timeoutMs: 86_400_000,
      },
    },
  },
  'core.loop': {
    inputs: { '*': 'what `items` and `while` look at, as `inputs`' },
    outputs: { output: 'the results of the iterations, in order' },
    config: {
      body: 'Ids of the nodes inside; exactly one of them has no edge from another.',
      items: 'The list, or CEL that gives it once, at the start; either this or `while`.',
      while: 'CEL that is asked before each iteration.',
      maxIterations: 'One more fails the loop.',
    },
    limits: [
      'Iterations run one after the other. Each node in each iteration counts as an execution: 10,000 per run by default (`--max-node-executions`).',
    ],
    example: { config: { body: ['inside'], items: [1, 2, 3], maxIterations: 10 } },
  },
  'core.merge': {
    inputs: { '*': 'one port per branch, named by `targetInput` of its edge' },
    outputs: { output: 'all input ports as one object', '*': 'each input port under its own name' },
    config: {},
    example: { config: {} },
  },
  'core.noop': { inputs: NOTHING, outputs: NOTHING, config: {}, example: { config: {} } },
  'core.orchestrator.supervisor': {
    inputs: { '*': 'what `decide` looks at, as `inputs`' },
    outputs: { decision: 'the decision', output: 'the same' },
    config: {
      decide:
        'CEL that gives the decision; `visit` is how often it has decided before. Either this or a list.',
      decideByModel:
        'A language model decides: `{"instructions", "prompt", "workers": [{"workflowId", "description"?}], "model"?}`. It can choose the listed workers alone; port `prompt` goes before its prompt, port `input` is given as data.',
      mockDecisions: 'Decisions to take in order; then it terminates.',
      mockDispatchPlan: 'The same, under the name that conformance suites use.',
      mockConfidence: 'How sure it is of each; default: as the decision says.',
      mockPendingDecision: 'One decision, under the name that conformance suites use.',
    },
    limits: [
      'A decision is `{"kind": "next-worker", "nextWorkerIds": […]}`, `{"kind": "ask-user", "prompt": …}` or `{"kind": "terminate"}`. Below a confidence of 0.7 (`configurable.escalationThreshold`) a person confirms it.',
    ],
    example: {
      config: {
        decide: "visit == 0 ? {'kind': 'next-worker', 'nextWorkerIds': ['writer']} : {'kind': 'terminate'}",
      },
    },
  },
  'core.parallel': {
    inputs: { input: 'what is copied', '*': 'without port `input`, all ports as one object' },
    outputs: { output: 'the copy, on every outgoing edge' },
    config: {},
    example: { config: {} },
  },
  'core.setVariable': {
    inputs: { value: 'the value, before the config', input: 'the value, where nothing else says so' },
    outputs: { output: 'the value that was set' },
    config: {
      name: 'The variable; one that is declared takes values of its type only.',
      value: 'The value; either this or `expression`.',
      expression: 'CEL that gives it.',
    },
    example: { config: { name: 'total', expression: '1 + 2' } },
  },
  'core.start': {
    inputs: { '*': 'the inputs of the run' },
    outputs: { output: 'all inputs as one object', '*': 'each input under its own name' },
    config: {},
    limits: ['Its outputs are never shown, because they repeat the inputs of the run.'],
    example: { config: {} },
  },
  'core.subWorkflow': {
    inputs: NOTHING,
    outputs: {
      childRunId: 'the child run',
      childStatus: 'how it ended',
      output: 'its outputs, if it has any',
      childError: 'its error, if it failed and `onChildFailure` is `absorb`',
    },
    config: {
      workflowId: 'The workflow; its current version when the child is created.',
      waitForCompletion: 'Always `true`.',
      onChildFailure: '`fail-parent` (default) or `absorb`: the node completes although the child failed.',
      inputMapping: MAPPING_IN,
      outputMapping: MAPPING_OUT,
      propagateCancellation: 'Whether cancelling this run cancels the child; default `true`.',
    },
    example: {
      config: { workflowId: 'trip-hotel', inputMapping: { city: 'city' }, outputMapping: { hotel: 'room' } },
    },
  },
  'weft.channel.read': {
    inputs: NOTHING,
    outputs: { output: 'what the channel holds, `null` for nothing' },
    config: { channelName: 'A channel that the workflow declares.' },
    example: { config: { channelName: 'lengths' } },
  },
  'weft.ai.agent': {
    inputs: {
      prompt: 'what to do, before `config.prompt`',
      input: 'data that belongs to it; given to the model as data, not as instructions',
    },
    outputs: {
      output: 'the answer: text, or JSON where `config.outputSchema` asks for it',
      text: 'the answer as text',
      turns: 'how often the model was asked',
      model: 'the model that answered last',
      finishReason: 'why it stopped',
      usage: 'tokens of all turns, as the provider counts them',
      error: 'what the model reports that it cannot do, with `code` and `message`; then there is no `output`',
    },
    config: {
      model: 'The model; `configurable.model` of the run goes before it, so that a fork can take another.',
      instructions:
        'The system prompt. It comes from the definition alone, or from the pack of the agent that `agent` of the node pins.',
      systemPromptRef: REF_DOCS('system', 'instructions'),
      prompt: 'What to do.',
      userPromptRef: REF_DOCS('user', 'prompt'),
      tools:
        'Tools that the model may call: `mcp:SERVER/TOOL`, with `*` for any characters; `node:TYPEID`, a node type of your own code that needs no config (the version is pinned at registration); `workflow:ID`, run as a child. Default: none.',
      maxTurns: 'Most turns of the model; 1 to 100, default 10. Without an answer by then the node fails.',
      stopWhen:
        'CEL, asked after the calls of a turn: true ends the agent. It sees `outputs.turns`, `outputs.text`, `outputs.toolCalls` and `outputs.results`.',
      outputSchema:
        'JSON Schema of the answer. An answer that does not satisfy it is asked for again, twice, within `maxTurns`.',
      envelopes: ENVELOPES,
      requireApproval:
        'Tools of which each call waits for a person; patterns as in `tools`, with `*` also in node types and ids.',
      allowWithoutApproval:
        'Destructive tools that may be called without one; patterns as in `tools`. Default: none.',
    },
    limits: [
      'Offered tools: 128, their definitions 128 KiB together.',
      'Calls in one turn: 32, four of them at a time; arguments 64 KiB, an answer 128 KiB.',
      'What is sent to the model: 2 Mi characters.',
      'Each turn and each call: 5 minutes, unless `settings.timeoutMs` says otherwise.',
    ],
    example: {
      config: {
        instructions: 'You answer questions about the files of a project.',
        prompt: 'Which of the files are about licences?',
        tools: ['mcp:files/read_*', 'mcp:files/list_*'],
        maxTurns: 8,
      },
    },
  },
  'weft.memory.list': {
    inputs: { memoryRef: 'the memory, before the config' },
    outputs: { output: 'the entries: `id`, `content`, `tags`, `createdAt`, `expiresAt`', count: 'how many' },
    config: {
      memoryRef: 'The memory; default: that of the agent pinned to the node.',
      limit: 'Most entries; default 100.',
      tag: 'Only entries with this tag.',
    },
    example: { config: { memoryRef: 'customers', limit: 20, tag: 'preference' } },
  },
  'weft.memory.write': {
    inputs: {
      memoryRef: 'the memory, before the config',
      content: 'the content, before the config',
      input: 'the content, where neither says so',
    },
    outputs: { output: 'id of the entry', memoryId: 'the same', memoryRef: 'the memory' },
    config: {
      memoryRef: 'The memory; default: that of the agent pinned to the node.',
      content: 'The text; other JSON from a port is kept as its text.',
      tags: 'To find it by.',
      ttlMs: 'How long it lives; default: for ever.',
      sensitive: '`false` keeps the content as it is, though it is made from something sensitive.',
    },
    limits: ['Content and tags of one entry: 64 KiB (`max-memory-entry-bytes`).'],
    example: {
      config: { memoryRef: 'customers', content: 'prefers mail', tags: ['preference'], ttlMs: 2_592_000_000 },
    },
  },
};
