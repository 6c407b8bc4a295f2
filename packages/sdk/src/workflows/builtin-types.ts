// Generated from the node types of the engine; change those, then run `npm run docs`.

import type { Json, JsonObject } from '@weft/protocol/plain';

/** Types of the host: config, and what arrives and leaves at their ports. An index signature stands for ports of any name. */
export interface BuiltinNodeTypes {
  /** Has an agent of another host do a task, and asks a person where the agent has a question. */
  'core.a2a.invoke': {
    config: {
      skill: string;
      peer?: string;
      input?: Json;
      timeoutMs?: number;
      cardDigest?: string;
    };
    inputs: {
      /** before `config.input` */
      input?: Json;
    };
    outputs: {
      /** the data of the result; without that its text; else the list of its parts */
      output: Json;
      /** the artifacts of the task, each with `name` and `parts` */
      artifacts: Json;
      /** the parts of what the agent said last */
      message: Json;
      /** `peer`, `taskId`, `contextId`, `state` and the `cardDigest` of the agent that did it */
      task: Json;
    };
  };
  /** Asks a language model and streams its answer into the log, piece by piece. */
  'core.ai.callPrompt': {
    config: {
      promptId?: string;
      prompt?: string;
      system?: string;
      systemPromptRef?: string;
      userPromptRef?: string;
      schemaHintPromptRef?: string;
      fewShotPromptRefs?: Array<string>;
      examples?: Array<{
        user: string;
        assistant: string;
      }>;
      model?: string;
      temperature?: number;
      maxTokens?: number;
      outputSchema?: JsonObject;
      maxRepairs?: number;
      envelopes?: boolean;
      mcp?: {
        server?: string;
        tool: string;
        arguments?: JsonObject;
        timeoutMs?: number;
        requireApproval?: true;
        digest?: string;
      };
      expectsStreaming?: boolean;
    };
    inputs: {
      /** what to ask, before `config.prompt` */
      prompt?: Json;
      /** the system prompt, before `config.system` */
      system?: Json;
      /** data for the prompt, which the model sees between marks as untrusted; where there is no prompt, what to ask */
      input?: Json;
      /** artifacts of this run that are shown to the model: ids, or references as other nodes put them out; at most 8 PNG, JPEG, GIF or WebP images of 5 MiB, 16 MiB together */
      images?: Json;
    };
    outputs: {
      /** the answer: text, or with `outputSchema` the value */
      output: Json;
      /** the answer as text */
      text: Json;
      /** with `outputSchema`: the value that satisfies it */
      value: Json;
      /** the model that answered */
      model: Json;
      /** why it stopped */
      finishReason: Json;
      /** tokens, as the provider counts them */
      usage: Json;
      /** tools it wants called, if any */
      toolCalls: Json;
      /** what the model reports that it cannot do, with `code` and `message`; then there is no `output` */
      error: Json;
    };
  };
  /** Waits until enough people have approved, or rejects as soon as the policy says so. */
  'core.approvalGate': {
    config: {
      title?: string;
      description?: string;
      actions?: Array<'accept' | 'reject' | 'refine' | 'edit-accept' | 'ask'>;
      artifactId?: string;
      artifactType?: string;
      artifactData?: Json;
      requiredApprovals?: number;
      rejectionPolicy?: 'single-veto' | 'majority';
      approversList?: Array<string>;
      profile?: string;
      timeoutMs?: number;
    };
    inputs: {
      /** what is to be approved, where `config.artifactData` does not say */
      artifactData?: Json;
      /** the same, where neither does */
      input?: Json;
    };
    outputs: {
      /** the answer as one object */
      output: Json;
      /** what was decided: `accept`, `edit-accept` or `refine` */
      action: Json;
      /** Any other: every other member of the deciding answer, such as `feedback` */
      [port: string]: Json | undefined;
    };
  };
  /** Writes a value to a channel; the channel’s reducer says what that does to what it holds. */
  'core.channelWrite': {
    config: {
      channelName: string;
      reducer?: 'replace' | 'append' | 'merge' | 'counter' | 'votes' | 'feedback' | 'message';
      ttlMs?: number;
      maxSize?: number;
      value?: Json;
      to?: 'parent';
    };
    inputs: {
      /** what to write, before `config.value` */
      value?: Json;
      /** what to write, where neither says so */
      input?: Json;
    };
    outputs: {
      /** what was written */
      output: Json;
    };
  };
  /** Asks questions and waits until every one of them is answered. */
  'core.clarificationGate': {
    config: {
      questions: Array<{
        id: string;
        question: string;
        schema?: JsonObject;
      }>;
      contextType?: string;
      timeoutMs?: number;
    };
    inputs: Record<string, never>;
    outputs: {
      /** the answer as one object */
      output: Json;
      /** the answers by question id */
      answers: Json;
    };
  };
  /** Evaluates config.condition over its inputs and passes its input on through port true or port false. */
  'core.conditional': {
    config: {
      condition: string | {
        type?: 'expression' | 'equals' | 'notEquals' | 'contains' | 'regex' | 'truthy' | 'falsy';
        left?: string;
        right?: Json;
        expression?: string;
      };
    };
    inputs: {
      /** what is passed on */
      input?: Json;
      /** Any other: what the condition looks at */
      [port: string]: Json | undefined;
    };
    outputs: {
      /** port `input` (without one: all input ports as an object), when the condition holds */
      true: Json;
      /** the same, when it does not */
      false: Json;
    };
  };
  /** Opens a conversation and waits, turn by turn, until it is closed by a person, by its number of turns, or by silence. */
  'core.conversationGate': {
    config: {
      lifecycle?: 'open-exchange-close';
      prompt?: string;
      title?: string;
      schema?: JsonObject;
      turnCount?: number;
      channel?: string;
      timeoutMs?: number;
      mockAutoResume?: boolean;
    };
    inputs: Record<string, never>;
    outputs: {
      /** its id */
      conversationId: Json;
      /** turns, the opening and the closing one included */
      turnCount: Json;
      /** what it ended with, if anything */
      outcome: Json;
      /** why it ended, such as `turn-count-reached` or `timeout` */
      reason: Json;
    };
  };
  /** Waits for a number of milliseconds: config.ms, else config.delayMs, else the input port delayMs. */
  'core.delay': {
    config: {
      ms?: number;
      delayMs?: number;
    };
    inputs: {
      /** milliseconds, where the config does not say */
      delayMs?: Json;
      /** anything; it is passed on */
      input?: Json;
    };
    outputs: {
      /** how long it waited */
      delayMs: Json;
      /** what arrived on port `input`, if anything did */
      output: Json;
    };
  };
  /** Carries out the supervisor’s newest decision: runs the named workers one after the other and leads back, asks the user, or ends the loop. */
  'core.dispatch': {
    config: {
      askUserRouting?: 'conversation' | 'clarification' | 'auto';
      workerDispatchModel?: 'child-run';
      fanOutPolicy?: 'sequential' | 'reject';
      iterationCap?: number;
      inputMapping?: Record<string, string>;
      outputMapping?: Record<string, string>;
      perWorkerInputMappings?: Record<string, Record<string, string>>;
      perWorkerOutputMappings?: Record<string, Record<string, string>>;
    };
    inputs: Record<string, never>;
    outputs: {
      /** of `terminate`: the decision */
      decision: Json;
      /** of `next-worker`: the last child run */
      childRunId: Json;
      /** how it ended */
      childStatus: Json;
      /** its error, if it failed */
      childError: Json;
      /** the decision, the outputs of the last child, or the person’s answer */
      output: Json;
    };
  };
  /** Ends a workflow: its inputs become its outputs, and what arrives on port input is also on port output. */
  'core.end': {
    config: Record<string, never>;
    inputs: {
      /** the result */
      input?: Json;
      /** Any other: more results, by name */
      [port: string]: Json | undefined;
    };
    outputs: {
      /** what arrived on port `input` */
      output: Json;
      /** Any other: each input port under its own name */
      [port: string]: Json | undefined;
    };
  };
  /** Always fails, with the code and message of its config; useful to test error paths. */
  'core.fail': {
    config: {
      code?: string;
      message?: string;
      retryable?: boolean;
    };
    inputs: Record<string, never>;
    outputs: object;
  };
  /** Outputs the value of a workflow variable, or config.default when it is not set. */
  'core.getVariable': {
    config: {
      name: string;
      default?: Json;
    };
    inputs: Record<string, never>;
    outputs: {
      /** the value */
      output: Json;
    };
  };
  /** Sends one HTTP request, with the invocation id as idempotency key, and outputs status, headers and body. */
  'core.http.request': {
    config: {
      url?: string;
      method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      headers?: Record<string, string>;
      secretHeaders?: JsonObject;
      body?: Json;
      maxResponseBytes?: number;
      expectStatus?: '2xx' | Array<number>;
      followRedirects?: boolean;
      saveAs?: {
        name: string;
        sensitive?: false;
      };
      idempotencyHeader?: string;
    };
    inputs: {
      /** before `config.url` */
      url?: Json;
      /** before `config.method` */
      method?: Json;
      /** laid over `config.headers` */
      headers?: Json;
      /** before `config.body` */
      body?: Json;
    };
    outputs: {
      /** the status code */
      status: Json;
      /** `content-type`, `etag`, `last-modified`, `location` and `retry-after`, where they were sent */
      headers: Json;
      /** the body: parsed where it is JSON, else text */
      body: Json;
      /** the same as `body`, or the reference to the artifact */
      output: Json;
      /** with `saveAs`, in place of `body`: `artifactId`, `mediaType`, `size`, `digest` */
      artifact: Json;
    };
  };
  /** Echoes each input port on the output port of the same name. */
  'core.identity': {
    config: Record<string, never>;
    inputs: {
      /** Any other: anything */
      [port: string]: Json | undefined;
    };
    outputs: {
      /** Any other: each input port under its own name */
      [port: string]: Json | undefined;
    };
  };
  /** Waits for an event from outside that carries the expected correlation, or for any answer of a custom kind. */
  'core.interrupt': {
    config: {
      kind: 'external-event' | 'custom';
      data: JsonObject;
      resumeSchema?: JsonObject;
      timeoutMs?: number;
    };
    inputs: Record<string, never>;
    outputs: {
      /** the answer as one object */
      output: Json;
      /** Any other: every member of the answer */
      [port: string]: Json | undefined;
    };
  };
  /** Runs the nodes of config.body once per item of config.items, or while config.while holds. */
  'core.loop': {
    config: {
      body: Array<string>;
      items?: Array<Json> | string;
      while?: string;
      maxIterations: number;
    };
    inputs: {
      /** Any other: what `items` and `while` look at, as `inputs` */
      [port: string]: Json | undefined;
    };
    outputs: {
      /** the results of the iterations, in order */
      output: Json;
    };
  };
  /** Calls a tool of a configured MCP server; one that may destroy something waits until a person agrees. */
  'core.mcp.toolCall': {
    config: {
      serverId: string;
      toolName: string;
      arguments?: JsonObject;
      timeoutMs?: number;
      requireApproval?: true;
      digest?: string;
    };
    inputs: {
      /** laid over `config.arguments` */
      arguments?: Json;
    };
    outputs: {
      /** the structured content; without one the text; else the list of content */
      output: Json;
      /** the parts of the result, as the tool gave them */
      content: Json;
      /** where the tool gives it */
      structuredContent: Json;
      /** true when the tool says that it has failed; the node completes all the same */
      isError: Json;
      /** `server`, `name` and the `digest` of the definition that was called */
      tool: Json;
    };
  };
  /** Joins branches: each input port is an output port, and port output holds all of them as one object. */
  'core.merge': {
    config: Record<string, never>;
    inputs: {
      /** Any other: one port per branch, named by `targetInput` of its edge */
      [port: string]: Json | undefined;
    };
    outputs: {
      /** all input ports as one object */
      output: Json;
      /** Any other: each input port under its own name */
      [port: string]: Json | undefined;
    };
  };
  /** Does nothing and has no outputs. */
  'core.noop': {
    config: Record<string, never>;
    inputs: Record<string, never>;
    outputs: object;
  };
  /** Decides, each time it is entered, which workers run next, whether to ask a person, or that the work is done. */
  'core.orchestrator.supervisor': {
    config: {
      decide?: string;
      decideByModel?: {
        model?: string;
        instructions: string;
        prompt: string;
        workers: Array<{
          workflowId: string;
          description?: string;
        }>;
      };
      mockDecisions?: Array<{
        kind: 'next-worker';
        nextWorkerIds: Array<string>;
        confidence?: number;
      } | {
        kind: 'ask-user';
        prompt: string;
      } | {
        kind: 'terminate';
        reason?: string;
        confidence?: number;
        successCriteria?: Array<{
          key: string;
          met: boolean;
        }>;
      }>;
      mockDispatchPlan?: Array<{
        kind: 'next-worker';
        nextWorkerIds: Array<string>;
        confidence?: number;
      } | {
        kind: 'ask-user';
        prompt: string;
      } | {
        kind: 'terminate';
        reason?: string;
        confidence?: number;
        successCriteria?: Array<{
          key: string;
          met: boolean;
        }>;
      }>;
      mockConfidence?: number;
      mockPendingDecision?: {
        kind: 'next-worker';
        nextWorkerIds: Array<string>;
        confidence?: number;
      } | {
        kind: 'ask-user';
        prompt: string;
      } | {
        kind: 'terminate';
        reason?: string;
        confidence?: number;
        successCriteria?: Array<{
          key: string;
          met: boolean;
        }>;
      };
    };
    inputs: {
      /** Any other: what `decide` looks at, as `inputs` */
      [port: string]: Json | undefined;
    };
    outputs: {
      /** the decision */
      decision: Json;
      /** the same */
      output: Json;
    };
  };
  /** Copies its input to every outgoing edge, so that the branches behind it run side by side. */
  'core.parallel': {
    config: Record<string, never>;
    inputs: {
      /** what is copied */
      input?: Json;
      /** Any other: without port `input`, all ports as one object */
      [port: string]: Json | undefined;
    };
    outputs: {
      /** the copy, on every outgoing edge */
      output: Json;
    };
  };
  /** Sets a workflow variable to the input port value, else config.value, else config.expression. */
  'core.setVariable': {
    config: {
      name: string;
      value?: Json;
      expression?: string;
    };
    inputs: {
      /** the value, before the config */
      value?: Json;
      /** the value, where nothing else says so */
      input?: Json;
    };
    outputs: {
      /** the value that was set */
      output: Json;
    };
  };
  /** Begins a workflow: hands the run inputs on, together on port output and each under its own name. */
  'core.start': {
    config: Record<string, never>;
    inputs: {
      /** Any other: the inputs of the run */
      [port: string]: Json | undefined;
    };
    outputs: {
      /** all inputs as one object */
      output: Json;
      /** Any other: each input under its own name */
      [port: string]: Json | undefined;
    };
  };
  /** Runs another workflow as a child run and waits for it; variables go in and out by name. While the child waits, so does the parent. */
  'core.subWorkflow': {
    config: {
      workflowId: string;
      waitForCompletion?: boolean;
      onChildFailure?: 'fail-parent' | 'absorb';
      inputMapping?: Record<string, string>;
      outputMapping?: Record<string, string>;
      propagateCancellation?: boolean;
    };
    inputs: Record<string, never>;
    outputs: {
      /** the child run */
      childRunId: Json;
      /** how it ended */
      childStatus: Json;
      /** its outputs, if it has any */
      output: Json;
      /** its error, if it failed and `onChildFailure` is `absorb` */
      childError: Json;
    };
  };
  /** Lets a language model call tools, turn by turn, until it has an answer. */
  'weft.ai.agent': {
    config: {
      model?: string;
      instructions?: string;
      systemPromptRef?: string;
      prompt?: string;
      userPromptRef?: string;
      tools?: Array<string>;
      maxTurns?: number;
      stopWhen?: string;
      outputSchema?: JsonObject;
      envelopes?: boolean;
      requireApproval?: Array<string>;
      allowWithoutApproval?: Array<string>;
    };
    inputs: {
      /** what to do, before `config.prompt` */
      prompt?: Json;
      /** data that belongs to it; given to the model as data, not as instructions */
      input?: Json;
    };
    outputs: {
      /** the answer: text, or JSON where `config.outputSchema` asks for it */
      output: Json;
      /** the answer as text */
      text: Json;
      /** how often the model was asked */
      turns: Json;
      /** the model that answered last */
      model: Json;
      /** why it stopped */
      finishReason: Json;
      /** tokens of all turns, as the provider counts them */
      usage: Json;
      /** what the model reports that it cannot do, with `code` and `message`; then there is no `output` */
      error: Json;
    };
  };
  /** Outputs what a channel holds by now, if the channel lets this node read it. */
  'weft.channel.read': {
    config: {
      channelName: string;
    };
    inputs: Record<string, never>;
    outputs: {
      /** what the channel holds, `null` for nothing */
      output: Json;
    };
  };
  /** Outputs the entries of a memory, newest first; an unknown memory has none. */
  'weft.memory.list': {
    config: {
      memoryRef?: string;
      limit?: number;
      tag?: string;
    };
    inputs: {
      /** the memory, before the config */
      memoryRef?: Json;
    };
    outputs: {
      /** the entries: `id`, `content`, `tags`, `createdAt`, `expiresAt` */
      output: Json;
      /** how many */
      count: Json;
    };
  };
  /** Writes an entry to a memory that outlives the run; secrets and sensitive values in it are masked first. */
  'weft.memory.write': {
    config: {
      memoryRef?: string;
      content?: string;
      tags?: Array<string>;
      ttlMs?: number;
      sensitive?: false;
    };
    inputs: {
      /** the memory, before the config */
      memoryRef?: Json;
      /** the content, before the config */
      content?: Json;
      /** the content, where neither says so */
      input?: Json;
    };
    outputs: {
      /** id of the entry */
      output: Json;
      /** the same */
      memoryId: Json;
      /** the memory */
      memoryRef: Json;
    };
  };
}

/** Output ports that may be absent: an edge from one is taken only when it has a value. */
export const BRANCHES: Readonly<Record<string, readonly string[]>> = {
  'core.ai.callPrompt': ['output', 'value', 'error'],
  'core.conditional': ['true', 'false'],
  'weft.ai.agent': ['output', 'error'],
};
