/** Members of the config file that hold an object. The package that one configures reads it, and is loaded only where it stands. */
export const CONFIG_BLOCKS = {
  models: 'Language models that nodes may ask; see [the guide](../guide/models.md)',
  a2a: 'Agents of other hosts that nodes may call; see [the guide](../guide/agents-of-two-hosts.md)',
  budgets: 'What tenants may spend on models; see [the guide](../guide/costs.md#budgets-of-tenants)',
  mcpServers: 'MCP servers whose tools nodes may call; see [the guide](../guide/mcp.md)',
  registries: 'Registries that `weft pack install` asks; see [the guide](../guide/packs.md#publish-it)',
} as const;

export type ConfigBlock = keyof typeof CONFIG_BLOCKS;
